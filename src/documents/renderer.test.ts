import { expect, it, onTestFinished } from 'vitest';
import { openFonts, readFonts } from './fonts.ts';
import { renderInvoice } from './invoice-pdf.ts';
import { invoiceOf } from './invoices.fixture.ts';
import { createDocumentRenderer, type RenderLimits } from './renderer.ts';

const LOOKS = { language: 'en', logo: null };

function startRenderer(limits?: RenderLimits) {
  const renderer = createDocumentRenderer(null, limits);
  onTestFinished(() => renderer.stop());
  return renderer;
}

it('the thread renders what this one would, and only so many at a time', async () => {
  const { render } = startRenderer({ waiting: 2, eachMs: 60_000 });
  const invoice = invoiceOf('en');
  const outcomes = await Promise.all([1, 2, 3].map(() => render(invoice, LOOKS)));
  const here = await renderInvoice(invoice, LOOKS, openFonts(readFonts(null)));
  expect(outcomes).toEqual([here, here, { kind: 'busy' }]);
});

it('a rendering that takes too long is given up, and so is one that fails; the next one is rendered', async () => {
  const { render } = startRenderer({ waiting: 3, eachMs: 60_000 });
  await expect(render(invoiceOf('en'), { ...LOOKS, logo: new Uint8Array(100) })).rejects.toThrow(Error);
  expect(await render(invoiceOf('en'), LOOKS)).toMatchObject({ kind: 'rendered', pages: 1 });
  const hasty = startRenderer({ waiting: 3, eachMs: 1 });
  expect(await hasty.render(invoiceOf('en', 200), LOOKS)).toEqual({ kind: 'too_slow' });
});
