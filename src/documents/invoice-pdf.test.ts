import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { totalsOf, type InvoiceDocument } from '../domain/invoice-document.ts';
import { CUSTOMER_LANGUAGES } from '../mail/customer-mail.ts';
import { openFonts, readFonts } from './fonts.ts';
import { renderInvoice } from './invoice-pdf.ts';
import { invoiceOf, LOGO, PAID, SHOPS } from './invoices.fixture.ts';
import { readPdf, withoutSpaces } from './pdf-text.fixture.ts';
import { DOCUMENT_LANGUAGES, wordsOf } from './words.ts';

const FILES = readFonts(null);

async function render(invoice: InvoiceDocument, language: string, logo: Uint8Array | null = null): Promise<Uint8Array> {
  const rendered = await renderInvoice(invoice, { language, logo }, openFonts(FILES));
  if (rendered.kind !== 'rendered') throw new Error(`No font has ${rendered.characters.join(' ')}.`);
  return rendered.pdf;
}

/** Brackets of text from right to left are drawn, and so read, as their mirror images. */
const withoutBrackets = (text: string): string => withoutSpaces(text).replaceAll(/[()]/g, '');

it.each(Object.keys(SHOPS))(
  'every text of an invoice in %s can be read from its PDF as it was written',
  async (language) => {
    const invoice = invoiceOf(language);
    const { pages } = await readPdf(await render(invoice, language, LOGO));
    const text = withoutBrackets(pages.join(''));
    const { seller, buyer, items, note, number, paymentUrl } = invoice;
    const texts = [
      ...seller.lines,
      ...(buyer?.lines ?? []),
      ...items.map(({ description }) => description),
      note ?? '',
    ];
    for (const one of [...texts, number, paymentUrl, seller.taxId ?? '']) expect(text).toContain(withoutBrackets(one));
  },
);

it('documents speak the languages of mails to customers and of the payment page', () => {
  expect(DOCUMENT_LANGUAGES).toEqual(CUSTOMER_LANGUAGES);
});

it.each(DOCUMENT_LANGUAGES)('in %s an invoice and a receipt have all words, dates and sums', async (language) => {
  const { t, day, money, number } = wordsOf(language, 'EUR');
  for (const paid of [null, PAID]) {
    const invoice = invoiceOf('en', 3, { paid });
    const { pages, outside, info } = await readPdf(await render(invoice, language));
    expect(outside).toEqual([]);
    const text = withoutMarks(pages.join(''));
    const totals = totalsOf(invoice.items, false);
    const sums = [totals.net, totals.gross, ...totals.rates.map(({ vat }) => vat)].map(money);
    const facts = [
      day(invoice.issuedOn),
      ...(paid === null
        ? [day(invoice.dueOn)]
        : [
            t('paid_on', { date: day(paid.on) }),
            `${day('2026-02-01')} 0.01234567 BTC (Bitcoin) ${money(100_000n)}`,
            `${t('transaction')}: ${'9f8e'.repeat(16)}`,
            `${day('2026-02-03')} 12.5 USDT (Polygon) ${money(1_250n)}`,
          ]),
    ];
    for (const one of [...sums, ...facts, ...totals.amounts.map(number)]) expect(text).toContain(withoutMarks(one));
    expect(text).not.toMatch(/\{\w+\}|undefined|null|NaN/);
    expect(info).toMatchObject({
      Title: `${t(paid === null ? 'invoice' : 'receipt')} INV-2026-0001`,
      Author: 'Northside Coffee Ltd',
      Language: language,
    });
  }
});

it.each(DOCUMENT_LANGUAGES)(
  'in %s a receipt comes to its total, and says how much too much was paid',
  async (language) => {
    const { t, money } = wordsOf(language, 'EUR');
    const { items } = invoiceOf('en');
    const { gross } = totalsOf(items, false);
    const textOf = async (minor: bigint): Promise<string> => {
      const paid = { ...PAID, further: { count: 3, minor } };
      const { pages } = await readPdf(await render(invoiceOf('en', items.length, { paid }), language));
      return withoutMarks(pages.join(''));
    };
    const exact = gross - 101_250n;
    const all = await textOf(exact);
    expect(all).toContain(withoutMarks(`${t('paid_further', { count: 3 })} ${money(exact)}`));
    expect(all).not.toContain(withoutMarks(t('overpaid')));
    const tooMuch = await textOf(exact + 5n);
    for (const [label, minor] of [
      ['paid_total', gross + 5n],
      ['overpaid', 5n],
    ] as const)
      expect(tooMuch).toContain(withoutMarks(`${t(label)} ${money(minor)}`));
  },
);

/** Marks of direction are not drawn. */
const withoutMarks = (text: string): string => withoutSpaces(text).replaceAll(/[\u061C\u200E\u200F]/g, '');

it('50 items go over pages, each with the names of the columns and its number, and none is lost', async () => {
  const invoice = invoiceOf('de', 50);
  const { pages } = await readPdf(await render(invoice, 'de'));
  expect(pages).toHaveLength(2);
  for (const [place, page] of pages.entries()) {
    expect(page).toContain('BeschreibungMengeEinzelpreisUSt.Betrag');
    expect(page).toContain(`Seite${place + 1}von2`);
  }
  const { number } = wordsOf('de', 'EUR');
  const amounts = totalsOf(invoice.items, false).amounts.map((amount) => withoutSpaces(number(amount)));
  for (const amount of amounts) expect(pages.join('')).toContain(amount);
});

it('the same invoice has the same bytes, whatever was rendered before', async () => {
  const first = await render(invoiceOf('ar'), 'ar', LOGO);
  await render(invoiceOf('ja'), 'ja');
  expect(Buffer.compare(await render(invoiceOf('ar'), 'ar', LOGO), first)).toBe(0);
});

it.each([
  ['one word', 'W'.repeat(5_000)],
  ['words', 'word '.repeat(1_000)],
  ['Arabic', 'ة'.repeat(5_000)],
  ['Han', '漢'.repeat(5_000)],
  ['lines', 'a\n'.repeat(2_500)],
])('5,000 characters (%s) in every text neither break a page nor are cut off', async (_, long) => {
  const party = { lines: [long, long], taxId: long };
  const change = { number: long, seller: party, buyer: party, note: long, paymentUrl: `https://pay.example/${long}` };
  const invoice = invoiceOf('en', 2, change);
  const items = invoice.items.map((item) => ({ ...item, description: long }));
  const { pages, outside } = await readPdf(await render({ ...invoice, items }, 'en'));
  expect(outside).toEqual([]);
  const letter = long[0] ?? '';
  // Seller, buyer and their numbers, two items, the note and the address to pay at.
  expect(pages.join('').split(letter).length).toBeGreaterThan((10 * long.split(letter).length) / 1.01);
});

it('markup and syntax of PDF are text, and marks that reorder or hide are left out', async () => {
  const hostile = '<b>&amp;</b> (a) Tj ET \\) endobj %%EOF /JS << >> \u202Egnp.exe\u2066 \0\u200Bx';
  const invoice = invoiceOf('en', 1, { seller: { lines: [hostile], taxId: null }, note: hostile });
  const pdf = await render(invoice, 'en');
  const { pages, info } = await readPdf(pdf);
  const printed = withoutSpaces('<b>&amp;</b> (a) Tj ET \\) endobj %%EOF /JS << >> gnp.exe x');
  // The name of the seller and the note; the foot of the page cuts the name.
  expect(pages[0]?.split(printed)).toHaveLength(3);
  expect(info['Author']).toContain('gnp.exe');
  expect(Buffer.from(pdf).toString('latin1')).not.toMatch(/\/JavaScript|\/OpenAction|\/AA\b/);
});

it('characters that no font has are named, and nothing is rendered with boxes in their place', async () => {
  const note = 'สวัสดี 😀 한';
  const rendered = await renderInvoice(invoiceOf('en', 1, { note }), { language: 'en', logo: null }, openFonts(FILES));
  if (rendered.kind !== 'missing_characters') throw new Error('It was rendered.');
  expect(rendered.characters).toEqual(expect.arrayContaining(['ส', '😀', '한']));
});

it('fonts of an operator come before the East Asian one', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'cointill-fonts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const font = brotliDecompressSync(readFileSync(path.join(import.meta.dirname, 'fonts/european.ttf.br')));
  writeFileSync(path.join(folder, 'own.ttf'), font);
  writeFileSync(path.join(folder, 'readme.txt'), 'no font');
  expect(
    readFonts(folder)
      .map(({ name }) => name)
      .slice(-2),
  ).toEqual(['own.ttf', 'east-asian']);
});
