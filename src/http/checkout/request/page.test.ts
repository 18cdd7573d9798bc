import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadAssets } from '../../pages/assets.ts';
import { tagsOf, textOf, valuesOf } from '../../pages/markup.fixture.ts';
import { ASSETS, FRAME } from '../examples.fixture.ts';
import { LANGUAGES } from '../language/locale.ts';
import { invoiceOf, REQUEST_STATES, REQUEST_URL, requestViewOf } from './examples.fixture.ts';
import { renderRequestPage } from './page.ts';
import type { RequestView } from './view.ts';

const render = (view: RequestView) => renderRequestPage(view, ASSETS);
const pageOf = (state: string): string => render(REQUEST_STATES.get(state) ?? requestViewOf()).html;

describe('the page of a payment request', () => {
  it('says what is asked for, what was paid and what is left, and has one button for the rest', () => {
    const html = pageOf('open, in parts');
    const text = textOf(html);
    for (const part of ['Deposit for the wedding cake', '€250.00', 'Paid so far €100.00', 'Being confirmed €25.00']) {
      expect(text).toContain(part);
    }
    expect(text).toContain('Left to pay €125.00');
    expect(text).toContain('Pay €125.00');
    expect(valuesOf(html, 'form', 'action')).toEqual([expect.stringMatching(/^\/request\/req_\w{26}\/pay$/)]);
    expect(valuesOf(html, 'form', 'method')).toEqual(['post']);
  });

  it('names no price, no coin and no address: nothing is quoted by looking', () => {
    expect(textOf(pageOf('open'))).not.toMatch(/BTC|USDT|Bitcoin|0x|rate/);
  });

  it('labels each field, names its bounds, and keeps what was typed beside what is wrong with it', () => {
    const html = pageOf('open, typed, refused');
    const fields = tagsOf(html).filter(({ name }) => name === 'input' || name === 'textarea');
    expect(fields.map(({ attributes }) => attributes.get('name'))).toEqual(['amount', 'email', 'name', 'note']);
    expect(valuesOf(html, 'label', 'for')).toEqual(fields.map(({ attributes }) => attributes.get('id')));
    expect(valuesOf(html, 'input', 'value')).toEqual(['3,50', 'ann@example', ' ']);
    expect(html).toMatch(/<textarea[^>]*>Blue ribbon<\/textarea>/);
    expect(fields.map(({ attributes }) => attributes.get('aria-invalid'))).toEqual(['true', 'true', 'true', undefined]);
    expect(fields[0]?.attributes.get('aria-describedby')).toBe('amount-problem amount-hint');
    expect(textOf(html)).toContain('At least €5.00. At most €1,000.00.');
    expect(textOf(html)).toContain('Enter your name.');
  });

  it('answers a refused form with its status', () => {
    const view = requestViewOf();
    expect(renderRequestPage(view, ASSETS, true).status).toBe(400);
    expect(renderRequestPage(view, ASSETS).status).toBe(200);
    expect(render(REQUEST_STATES.get('no rate') ?? view).status).toBe(503);
  });

  it.each(['paying, shared', 'paying, own', 'confirming'])('leads to the invoice instead of a form: %s', (state) => {
    const html = pageOf(state);
    expect(html).not.toContain('<form');
    expect(valuesOf(html, 'a', 'href')).toContainEqual(expect.stringMatching(/^\/pay\/inv_\w{26}$/));
  });

  it('says what an invoice still asks for that a part was paid of', () => {
    const part = { sums: { pendingMinor: 10_000n }, facts: { living: invoiceOf({ amountMinor: 25_000n }) } };
    expect(textOf(render(requestViewOf(part)).html)).toContain('It asks for €150.00.');
  });

  it('looks again by its script while others are paying, and never while somebody types', () => {
    const waits = [...REQUEST_STATES.keys()].filter((state) => pageOf(state).includes('data-refresh='));
    expect(waits.map((state) => state.replace(/,.*/, ''))).toEqual([
      'paying',
      'paying',
      'confirming',
      'confirming',
      'taken',
      'taken',
    ]);
    for (const state of REQUEST_STATES.keys()) expect(pageOf(state)).not.toContain('http-equiv="refresh"');
  });

  it.each(['paid', 'closed', 'expired', 'inactive'])('asks for nothing: %s', (state) => {
    expect(pageOf(state)).not.toContain('<form');
    expect(textOf(pageOf(state))).not.toMatch(/Pay €/);
  });

  it('leads back to the shop from a request that is paid, by a web address alone', () => {
    expect(valuesOf(pageOf('paid'), 'a', 'href')).toContain('https://shop.example/thanks');
    const hostile = requestViewOf({ request: { status: 'paid', successUrl: 'javascript:alert(1)' } });
    expect(render(hostile).html).not.toContain('javascript:');
  });

  it('has its address as a code for the printed page, while it can be paid', () => {
    expect(textOf(pageOf('open'))).toContain(REQUEST_URL);
    expect(tagsOf(pageOf('open')).filter(({ attributes }) => attributes.get('class') === 'qr')).toHaveLength(1);
    expect(pageOf('closed')).not.toContain('class="qr"');
  });

  it('keeps from others what a request that is paid more than once took in', () => {
    const many = requestViewOf({ request: { maxPayments: null }, sums: { paidMinor: 777_700n, payments: 9 } });
    expect(textOf(render(many).html)).not.toContain('7,777');
  });

  it('tells a visitor of a payment of theirs that has ended, and of nobody else’s', () => {
    const own = invoiceOf({ status: 'completed', completedAt: 1 });
    const links = (view: RequestView) =>
      valuesOf(render(view).html, 'a', 'href').filter((to) => to.startsWith('/pay/'));
    expect(links(requestViewOf({ request: { maxPayments: null }, facts: { own } }))).toHaveLength(1);
    expect(links(requestViewOf({ request: { maxPayments: null } }))).toEqual([]);
  });
});

describe('every state of a request', () => {
  it.each([...REQUEST_STATES.keys()])('is sound markup that a strict policy allows: %s', (state) => {
    const tags = tagsOf(pageOf(state));
    const ids = tags.flatMap((tag) => tag.attributes.get('id') ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { name, attributes } of tags) {
      expect(['style', 'iframe', 'object']).not.toContain(name);
      expect([...attributes.keys()].filter((key) => key === 'style' || key.startsWith('on'))).toEqual([]);
      for (const reference of ['aria-labelledby', 'aria-describedby', 'for']) {
        for (const id of attributes.get(reference)?.split(' ') ?? []) expect(ids).toContain(id);
      }
    }
    for (const name of ['h1', 'h2', 'main', 'header', 'footer']) {
      expect(tags.filter((tag) => tag.name === name)).toHaveLength(1);
    }
  });

  it.each([...REQUEST_STATES.keys()])('tells nothing of those who paid, and nothing of the metadata: %s', (state) => {
    for (const secret of ['ada@customer.example', 'Ada Customer', 'metadata-value', 'Northwind-secret']) {
      expect(pageOf(state)).not.toContain(secret);
    }
  });

  it('escapes whatever a shop or a payer writes, and stays small', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '<script>alert(1)</script>',
        '"><img src=x onerror=alert(1)>',
        '</textarea><b>',
        '\u202e<b>',
        '&lt;',
      ),
    );
    const calmed = (text: string): string => text.replaceAll(/[^\n]/g, 'x');
    fc.assert(
      fc.property(
        fc.constantFrom(...REQUEST_STATES.keys()),
        fc.record({ title: hostile, description: hostile, reference: hostile }),
        fc.record({ amount: hostile, email: hostile, name: hostile, note: hostile }),
        hostile,
        (state, texts, typed, projectName) => {
          const view = REQUEST_STATES.get(state) ?? requestViewOf();
          const shape = (calm: (text: string) => string): string[] => {
            const of = <Fields extends object>(fields: Fields): Fields =>
              Object.assign({}, ...Object.entries(fields).map(([key, text]) => ({ [key]: calm(String(text)) })));
            const step = view.step.kind === 'form' ? { ...view.step, typed: of(typed) } : view.step;
            const frame = { ...FRAME, branding: { ...FRAME.branding, projectName: calm(projectName) } };
            return tagsOf(render({ ...view, ...of(texts), step, frame }).html).map(({ name, attributes }) =>
              [name, ...attributes.keys()].join(' '),
            );
          };
          expect(shape((text) => text)).toEqual(shape(calmed));
        },
      ),
    );
  });

  it.each([...LANGUAGES.values()])('is sound in every language, in its own direction: $name', (locale) => {
    for (const view of REQUEST_STATES.values()) {
      const { html } = render({ ...view, frame: { ...view.frame, locale } });
      const [root] = tagsOf(html);
      expect([root?.attributes.get('lang'), root?.attributes.get('dir')]).toEqual([locale.code, locale.direction]);
      expect(textOf(html)).not.toMatch(/[{}]|undefined/);
    }
  });

  it('weighs at most 20 KB over the wire with its style and script, in every language', async () => {
    const assets = await loadAssets();
    const own = assets.routes.filter(({ path }) => path === assets.stylePath || path === assets.scriptPath);
    expect(own).toHaveLength(2);
    const ownBytes = own.reduce((sum, { bodies }) => sum + bodies.br.length, 0);
    for (const locale of LANGUAGES.values()) {
      for (const [state, view] of REQUEST_STATES) {
        const { html } = renderRequestPage({ ...view, frame: { ...view.frame, locale } }, assets);
        const bytes = ownBytes + gzipSync(html, { level: 1 }).length;
        expect([locale.code, state, bytes <= 20 * 1_024, bytes]).toEqual([locale.code, state, true, bytes]);
      }
    }
  });
});
