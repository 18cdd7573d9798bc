import { beforeEach, describe, expect, it } from 'vitest';
import { begun } from '../../src/app/payment-requests/invoices.fixture.ts';
import { settleDueRequests } from '../../src/app/payment-requests/settle-requests.ts';
import { simulateOutcome } from '../../src/app/sandbox/simulate-outcome.ts';
import { invoicePdf, dayOf } from '../../src/app/payment-requests/invoice-pdf.ts';
import { readPdf, withoutSpaces } from '../../src/documents/pdf-text.fixture.ts';
import { decodeId } from '../../src/domain/id.ts';
import type { RequestDetails } from '../../src/http/dashboard/payment-requests/contract.ts';
import { findRequest } from '../../src/store/payments/payment-requests.ts';
import { actsTest } from './acts.fixture.ts';

const { test, app, owner } = await actsTest();
const support = await test.join('support');
const viewer = await test.join('viewer');

const DAY_MS = 24 * 60 * 60_000;
let projectId = '';
beforeEach(async () => {
  ({ projectId } = await test.http.shop());
});

interface Refused {
  readonly error: { readonly param?: string; readonly message: string };
}
const settingsPath = () => `/dashboard/api/projects/${projectId}/settings/invoices`;
const scope = (mode = 'test') => `/dashboard/api/projects/${projectId}/${mode}`;
const SETTINGS = {
  prefix: 'INV-',
  seller_lines: 'Northside Coffee Ltd\n12 Harbour Street\n',
  seller_tax_id: 'DE123456789',
  vat_rate: '19',
  due_days: '30',
  reminds: true,
};
const ITEM = { description: 'Espresso beans', quantity: '1.5', price: '10.00', vat_rate: '19' };

function save<Body = object>(change: object = {}) {
  return owner.browser.call<Body>({ method: 'POST', path: settingsPath(), body: { ...SETTINGS, ...change } });
}

let forms = 0;
function issue<Body = { readonly id: string; readonly number: string; readonly url: string }>(
  change: object = {},
  { browser = owner.browser, mode = 'test', headers = {} } = {},
) {
  app.clock.advance(1);
  const body = {
    request: `invoice-${(forms += 1)}`,
    issued_on: dayOf(app.clock()),
    supplied_on: '',
    due_on: dayOf(app.clock() + 30 * DAY_MS),
    buyer_lines: ' Ann Example\r\n1 Long Avenue ',
    buyer_tax_id: '',
    email: '',
    currency: 'EUR',
    prices_include_vat: false,
    items: [ITEM],
    note: '',
    language: 'en',
    ...change,
  };
  return browser.call<Body>({ method: 'POST', path: `${scope(mode)}/invoice-documents`, body, headers });
}

async function refusal(change: object, headers = {}): Promise<Refused['error']> {
  const { status, body, text } = await issue<Refused>(change, { headers });
  if (status !== 400) throw new Error(`${status} ${text}`);
  return body.error;
}

async function read(id: string, browser = owner.browser): Promise<RequestDetails> {
  return (await browser.call<RequestDetails>({ path: `${scope()}/payment-requests/${id}` })).body;
}

/** The text of a file as the store has it, after a route answered with it. */
async function fileText(id: string, file: 'invoice' | 'receipt'): Promise<string> {
  const answer = await viewer.browser.call({ path: `${scope()}/payment-requests/${id}/files/${file}.pdf` });
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/pdf']);
  const request = await findRequest(app.db, { id: decodeId('request', id) ?? '' });
  const found = request && (await invoicePdf({ app, renderer: app.renderer }, request, file));
  if (found?.kind !== 'pdf') throw new Error('There is no file.');
  return (await readPdf(found.bytes)).pages.join('');
}

describe('invoices', () => {
  it('are issued by a form that begins with the settings, and read with their PDF, also by viewers', async () => {
    expect((await issue<Refused>()).body.error.message).toMatch(/names its seller.*Settings/);
    expect((await save()).body).toEqual({
      ...SETTINGS,
      seller_lines: 'Northside Coffee Ltd\n12 Harbour Street',
      sends_mail: false,
    });
    const defaults = await support.browser.call({ path: `${scope()}/invoice-documents/defaults` });
    expect(defaults.body).toMatchObject({
      seller: ['Northside Coffee Ltd', '12 Harbour Street'],
      vat_rate: '19',
      due_days: 30,
      language: 'en',
    });
    const made = await issue(
      { supplied_on: dayOf(app.clock() - DAY_MS), note: 'Thank you' },
      { browser: support.browser },
    );
    expect(made.body).toMatchObject({ number: 'INV-2026-0001' });
    expect(await read(made.body.id, viewer.browser)).toMatchObject({
      title: 'Invoice INV-2026-0001',
      reference: 'INV-2026-0001',
      amount: '17.85',
      max_payments: 1,
      document: {
        number: 'INV-2026-0001',
        due_on: dayOf(app.clock() + 30 * DAY_MS),
        email: null,
        mail: 'no_server',
        mails: [],
      },
      can: { close: false, mail: false },
    });
    const text = await fileText(made.body.id, 'invoice');
    for (const part of ['Northside Coffee Ltd', 'Ann Example', 'EUR 17.85', 'DE123456789', 'Thank you', made.body.url])
      expect(text).toContain(withoutSpaces(part));
    expect((await issue({}, { browser: viewer.browser })).status).toBe(403);
  });

  it('have a receipt once they are paid, also for the customer, and none before', async () => {
    await save();
    const { id } = (await issue()).body;
    const request = { id: decodeId('request', id) ?? '' };
    const get = (path: string) => test.http.call({ path, side: 'test' });
    expect((await get(`/request/${id}/receipt.pdf`)).status).toBe(404);
    const invoice = await get(`/request/${id}/invoice.pdf`);
    expect([invoice.status, invoice.headers['content-type']]).toEqual([200, 'application/pdf']);
    expect(invoice.headers['content-disposition']).toBe('attachment; filename="INV-2026-0001.pdf"');
    await simulateOutcome(app, { id: await begun(app, request) }, 'paid');
    while ((await settleDueRequests(app, 100)) > 0);
    expect((await get(`/request/${id}/receipt.pdf`)).status).toBe(200);
    expect((await read(id)).document).toMatchObject({ has_receipt: true });
    expect(await fileText(id, 'receipt')).toContain('Receipt');
    for (const path of [`/request/${id}/other.pdf`, '/request/req_01jcnm00000000000000000009/invoice.pdf'])
      expect((await get(path)).status).toBe(404);
    const elsewhere = await owner.browser.call({ path: `${scope('live')}/payment-requests/${id}/files/invoice.pdf` });
    expect(elsewhere.status).toBe(404);
  });

  it('sent twice by one form are one, and other values under its key are refused', async () => {
    await save();
    const request = 'the-same-form';
    const [first, again] = [await issue({ request }), await issue({ request })];
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect((await issue({ request, note: 'Other' })).status).toBe(409);
  });

  it('with a wrong field are refused with its name and rule, and take no number', async () => {
    await save();
    const item = (change: object) => ({ items: [ITEM, { ...ITEM, ...change }] });
    const cases: readonly (readonly [change: object, field: string, message: RegExp])[] = [
      [item({ vat_rate: '-1' }), 'items.1.vat_rate', /The VAT rate must be a percentage from 0 to 100/],
      [item({ vat_rate: '101' }), 'items.1.vat_rate', /percentage/],
      [item({ quantity: '0' }), 'items.1.quantity', /The quantity must be a number above 0/],
      [item({ quantity: '1000000000', price: '0' }), 'items.1.quantity', /above 0 and up to 999,999,999 with/],
      [item({ price: '-5' }), 'items.1.price', /The price must be a number from 0 to .* EUR/],
      [item({ price: 'x' }), 'items.1.price', /with at most 2 decimals, such as 12\.5\.$/],
      [{ currency: 'JPY', items: [{ ...ITEM, price: '12.5' }] }, 'items.0.price', /without decimals, such as 12\.$/],
      [item({ price: '1000000', quantity: '1000' }), 'items.1.price', /come to a sum/],
      [item({ price: '999999.99', quantity: '1' }), 'items', /The invoice must come to a sum/],
      [{ items: [{ ...ITEM, price: '0' }] }, 'items', /sum from 0\.01/],
      [{ items: [] }, 'items', /at least one item/],
      [{ items: Array.from({ length: 201 }, () => ITEM) }, 'items', /^The invoice must have at most 200 items\.$/],
      [item({ description: 'x'.repeat(5_000) }), 'items.1.description', /at most 1,000 characters/],
      [item({ description: '\u202e' }), 'items.1.description', /must not be empty/],
      [{ note: 'x'.repeat(5_000) }, 'note', /at most 2,000 characters/],
      [{ buyer_lines: 'x'.repeat(5_000) }, 'buyer_lines', /at most 200 characters in each line/],
      [{ buyer_lines: 'x\n'.repeat(11) }, 'buyer_lines', /^The buyer must have at most 10 lines\.$/],
      [{ buyer_tax_id: 'x'.repeat(5_000) }, 'buyer_tax_id', /at most 50 characters/],
      [{ email: 'nobody' }, 'email', /complete/],
      [{ due_on: dayOf(app.clock() - DAY_MS) }, 'due_on', /must not be before the date of the invoice/],
      [{ due_on: '2039-01-01' }, 'due_on', /at most ten years after the date of the invoice/],
      [{ supplied_on: '2015-12-31' }, 'supplied_on', /at most ten years before or after the date of the invoice/],
      [{ supplied_on: '2039-01-01' }, 'supplied_on', /at most ten years before or after/],
      [{ due_on: '2026-02-30' }, 'due_on', /must be a day/],
      [{ issued_on: '2020-01-31' }, 'issued_on', /must be today/],
      [{ currency: 'XXX' }, 'currency', /must be one of/],
      [{ language: 'tlh' }, 'language', /must be one of/],
      [{ coins: [] }, 'coins', /at least 1 entry/],
      [{ coins: ['XXX'] }, 'coins', /"XXX" is neither/],
      [{ note: 'Rocket 🚀' }, 'note', /no font here has: 🚀/],
    ];
    for (const [change, field, message] of cases) {
      const error = await refusal(change);
      expect([field, error.param]).toEqual([field, field]);
      expect(error.message).toMatch(message);
    }
    expect((await refusal(item({ vat_rate: '101' }), { 'accept-language': 'de', 'x-language': 'de' })).param).toBe(
      'items.1.vat_rate',
    );
    expect((await issue()).body.number).toBe('INV-2026-0001');
  });

  it('are paid in the chosen coins alone, and otherwise in all that the project offers', async () => {
    await save();
    const coins = ['BTC', 'USDT/polygon'];
    const [some, all] = [await issue({ coins }), await issue()];
    expect((await read(some.body.id)).coins).toEqual(coins);
    expect((await read(all.body.id)).coins).toBeNull();
    const payment = await begun(app, { id: decodeId('request', some.body.id) ?? '' });
    expect((await app.read(payment)).coins).toEqual(coins);
  });

  it('print marks that reorder text without them, in every text', async () => {
    await save({ seller_lines: 'North\u202eside Coffee' });
    const marked = { description: 'Be\u202eans', quantity: '1', price: '1', vat_rate: '0' };
    const made = await issue({
      buyer_lines: 'A\u202enn',
      note: 'No\u202ete',
      items: [marked],
      buyer_tax_id: 'I\u202eD',
    });
    const text = await fileText(made.body.id, 'invoice');
    expect(text).not.toContain('\u202e');
    for (const part of ['NorthsideCoffee', 'Beans', 'Ann', 'Note', 'ID']) expect(text).toContain(part);
  });

  const refusalOfRate = async (vat_rate: string): Promise<Refused['error']> => {
    await save();
    return refusal({ items: [{ ...ITEM, vat_rate }] });
  };

  it('whose settings are wrong say so at the field', async () => {
    const param = async (change: object) => (await save<Refused>(change)).body.error.param;
    expect(await param({ prefix: 'Ä' })).toBe('prefix');
    expect(await param({ seller_lines: ' ' })).toBe('seller_lines');
    expect(await param({ seller_lines: 'x'.repeat(5_000) })).toBe('seller_lines');
    expect(await param({ seller_tax_id: 'x'.repeat(5_000) })).toBe('seller_tax_id');
    for (const vat_rate of ['-1', '101', 'x', '1.234']) expect(await param({ vat_rate })).toBe('vat_rate');
    expect(await param({ due_days: '366' })).toBe('due_days');
    for (const field of ['seller_lines', 'seller_tax_id']) {
      const { error } = (await save<Refused>({ [field]: '한국' })).body;
      expect([error.param, error.message]).toEqual([field, expect.stringContaining('no font here has: 한 국.')]);
    }
    const { message } = (await save<Refused>({ vat_rate: '101' })).body.error;
    expect(message).toBe((await refusalOfRate('101')).message);
  });

  it('begin their number with nothing or with what does not end in a digit', async () => {
    const { param, message } = (await save<Refused>({ prefix: '001' })).body.error;
    expect([param, message]).toEqual(['prefix', expect.stringMatching(/must not end in a digit, such as INV-\.$/)]);
    for (const prefix of ['', '001-', 'A2b', '2026/']) expect((await save({ prefix })).status).toBe(200);
  });

  it('are not mailed without a mail server', async () => {
    await save();
    const { id } = (await issue({ email: 'ann@shop.example' })).body;
    const mailed = await owner.browser.call<Refused>({
      method: 'POST',
      path: `${scope()}/payment-requests/${id}/mail`,
    });
    expect([mailed.status, mailed.body.error.message]).toEqual([409, expect.stringMatching(/no mail server is set/)]);
  });
});
