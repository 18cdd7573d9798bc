import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { keyedRequest, testApp, type TestApp } from '../../../test/harness.ts';
import { readPdf, withoutSpaces } from '../../documents/pdf-text.fixture.ts';
import { wordsOf } from '../../documents/words.ts';
import { formatDecimal } from '../../domain/money.ts';
import { findInvoiceDocument } from '../../store/payments/invoice-documents.ts';
import { findRequest, requestSums } from '../../store/payments/payment-requests.ts';
import { runDue } from '../payments/run-due.ts';
import { setActive } from '../projects/activation.ts';
import { simulateOutcome } from '../sandbox/simulate-outcome.ts';
import { invoicePdf, paidOf } from './invoice-pdf.ts';
import { begun, issue, issued, ITEM, wantedInvoice, withSeller } from './invoices.fixture.ts';
import { changeInvoiceSettings, invoiceSettings } from './invoice-settings.ts';
import { issueInvoice } from './issue-invoice.ts';
import { settleDueRequests } from './settle-requests.ts';

async function seller(): Promise<TestApp> {
  const app = await testApp();
  await withSeller(app);
  return app;
}

async function numbers({ db }: TestApp, mode = 'test'): Promise<readonly string[]> {
  const { rows } = await sql<{ number: string }>`
    select number from invoice_documents where mode = ${mode} order by year, counter`.execute(db);
  return rows.map(({ number }) => number);
}

/** The text of a stored or rendered document, without spaces. */
async function textOf(app: TestApp, id: string, file: 'invoice' | 'receipt'): Promise<string> {
  const request = await findRequest(app.db, { id });
  if (request === null) throw new Error('There is no such request.');
  const found = await invoicePdf({ app, renderer: app.renderer }, request, file);
  if (found.kind !== 'pdf') throw new Error(found.kind);
  return (await readPdf(found.bytes)).pages.join('');
}

async function settleAll(app: TestApp): Promise<void> {
  while ((await settleDueRequests(app, 100)) > 0);
}

it('numbers have no gap, although many are issued at once and some are refused or fail', async () => {
  const app = await seller();
  // A failure after the number was taken, as of a database that refuses a later statement.
  let calls = 0;
  const failing = {
    ...app,
    actor: { kind: 'person', id: null, name: 'ann', ip: null },
    get requestId(): string {
      calls += 1;
      throw new Error('The audit log fails.');
    },
  } as const;
  const outcomes = await Promise.allSettled(
    Array.from({ length: 32 }, (_, place) => {
      if (place % 4 === 1) return issue(app, {}, failing);
      // Refused after a number was taken: no rate pays in this coin.
      if (place % 4 === 2) return issue(app, { coins: ['DOGE'] });
      if (place % 4 === 3) return issue(app, { draft: { items: [{ ...ITEM, vatRate: '101' }] } });
      return issue(app);
    }),
  );
  const kinds = Object.groupBy(outcomes, (one) => (one.status === 'rejected' ? 'failed' : one.value.kind));
  const counts = Object.fromEntries(Object.entries(kinds).map(([kind, of]) => [kind, of?.length]));
  // More than twenty at once are refused by the renderer: whichever they are, none takes a number.
  expect(counts['invalid']).toBe(8);
  expect(calls).toBeGreaterThan(0);
  const made = counts['done'] ?? 0;
  expect(made).toBeGreaterThan(0);
  expect(await numbers(app)).toEqual(
    Array.from({ length: made }, (_, at) => `INV-2026-${String(at + 1).padStart(4, '0')}`),
  );
  await issued(app);
  expect(await numbers(app)).toHaveLength(made + 1);
});

it('each mode and each year counts by itself, and a new prefix goes on with the count', async () => {
  const app = await seller();
  await issued(app);
  await issued(app, { mode: 'live' });
  await withSeller(app, { prefix: 'R/' });
  await issued(app);
  app.clock.advance(366 * 24 * 60 * 60_000);
  await issued(app);
  expect(await numbers(app)).toEqual(['INV-2026-0001', 'R/2026-0002', 'R/2027-0001']);
  expect(await numbers(app, 'live')).toEqual(['INV-2026-0001']);
});

it('a prefix that ends in a digit, saved by an earlier version, goes on with the count', async () => {
  const app = await seller();
  await sql`update invoice_settings set prefix = '001'`.execute(app.db);
  await issued(app);
  expect(await numbers(app)).toEqual(['0012026-0001']);
});

it('an invoice asks for its sum with VAT once, and says what was written', async () => {
  const app = await seller();
  const request = await issued(app, { email: 'ann@shop.example' });
  expect(request).toMatchObject({
    title: 'Invoice INV-2026-0001',
    reference: 'INV-2026-0001',
    amountMinor: 2_380n,
    maxPayments: 1,
    currency: 'EUR',
  });
  const text = await textOf(app, request.id, 'invoice');
  for (const part of ['INV-2026-0001', 'Northside Coffee Ltd', 'Ann Example', 'EUR 23.80', 'Test. This is not a real'])
    expect(text).toContain(withoutSpaces(part));
});

it('what was issued never changes: not by settings, and its PDF is the same at every reading', async () => {
  const app = await seller();
  const { id } = await issued(app);
  const before = await textOf(app, id, 'invoice');
  await withSeller(app, { sellerLines: ['Another Ltd'] });
  expect(await textOf(app, id, 'invoice')).toBe(before);
  expect((await findInvoiceDocument(app.db, id))?.content.seller.lines[0]).toBe('Northside Coffee Ltd');
});

it('a document whose process ended before its PDF was saved is rendered by its next reader', async () => {
  const app = await seller();
  const { id } = await issued(app);
  const before = await textOf(app, id, 'invoice');
  await sql`delete from invoice_pdfs`.execute(app.db);
  expect(await textOf(app, id, 'invoice')).toBe(before);
  const { rows } = await sql`select from invoice_pdfs`.execute(app.db);
  expect(rows).toHaveLength(1);
});

it('a document that many read at once is rendered once, and leaves the renderer to others', async () => {
  const app = await seller();
  const request = await issued(app);
  await sql`delete from invoice_pdfs`.execute(app.db);
  let renders = 0;
  const renderer = {
    ...app.renderer,
    render: (...of: Parameters<typeof app.renderer.render>) => {
      renders += 1;
      return app.renderer.render(...of);
    },
  };
  const read = () => invoicePdf({ app, renderer }, request, 'invoice');
  const found = await Promise.all(Array.from({ length: 25 }, read));
  expect(renders).toBe(1);
  expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['pdf']));
  expect(app.memory.renderings.size).toBe(0);
});

it('a paid invoice has a receipt with its payment, and an unpaid one has none', async () => {
  const app = await seller();
  const { id } = await issued(app, { email: 'ann@shop.example' });
  await expect(textOf(app, id, 'receipt')).rejects.toThrow('not_found');
  const payment = await begun(app, { id });
  expect((await app.read(payment)).customerEmail).toBe('ann@shop.example');
  await simulateOutcome(app, { id: payment }, 'paid');
  await settleAll(app);
  const text = await textOf(app, id, 'receipt');
  for (const part of ['Receipt', 'INV-2026-0001', 'Paid on', 'BTC']) expect(text).toContain(withoutSpaces(part));
});

it('a receipt names day, coins, worth and transaction of each part, and comes to what the books have', async () => {
  const app = await seller();
  const { id } = await issued(app);
  const parts: string[] = [];
  for (const [step, outcome] of (['part', 'part', 'over'] as const).entries()) {
    const part = await begun(app, { id });
    parts.push(part);
    await simulateOutcome(app, { id: part }, outcome);
    await settleAll(app);
    // The next part is paid on another day, after the last one has expired.
    if (step < 2) app.clock.advance(24 * 60 * 60_000);
    await runDue(app, 100);
    await settleAll(app);
  }
  const text = await textOf(app, id, 'receipt');
  const { paidMinor } = (await requestSums(app.db, [id], app.clock()))(id);
  const request = await findRequest(app.db, { id });
  if (request === null) throw new Error('The request is gone.');
  const paid = await paidOf(app, request);
  expect(paid?.payments.map(({ on }) => on)).toEqual(['2026-06-15', '2026-06-16', '2026-06-17']);
  expect(paid?.payments.reduce((sum, { minor }) => sum + minor, 0n)).toBe(paidMinor);
  expect(paidMinor).toBeGreaterThan(2_380n);
  const { money, day } = wordsOf('en', 'EUR');
  for (const [place, part] of parts.entries()) {
    const { quote, received, transactionHash } = await app.read(part);
    const one = paid?.payments[place];
    if (quote === null || one === undefined) throw new Error('A part is missing.');
    const coins = formatDecimal(received.all.confirmedUnits, quote.decimals);
    const row = `${day(one.on)}${coins} BTC (Bitcoin)${money(one.minor)}Transaction: ${received.transactionHash}`;
    expect(received.transactionHash ?? transactionHash).not.toBeNull();
    expect(text).toContain(withoutSpaces(row));
  }
  expect(text).toContain(withoutSpaces(`Paid in total ${money(paidMinor)} Overpaid ${money(paidMinor - 2_380n)}`));
  const short = await paidOf(app, request, 1);
  expect(short?.payments).toEqual(paid?.payments.slice(0, 1));
  expect(short?.further).toEqual({ count: 2, minor: paidMinor - (paid?.payments[0]?.minor ?? 0n) });
});

it('an invoice has no receipt while a reorganisation of the chain has taken its money back', async () => {
  const app = await seller();
  const { id } = await issued(app);
  const payment = await begun(app, { id });
  await simulateOutcome(app, { id: payment }, 'paid');
  await settleAll(app);
  await simulateOutcome(app, { id: payment }, 'reorged');
  await settleAll(app);
  expect((await findRequest(app.db, { id }))?.status).toBe('paid');
  await expect(textOf(app, id, 'receipt')).rejects.toThrow('not_found');
});

it('characters that no font has, a busy renderer and a missing seller are refused before a number is taken', async () => {
  const app = await testApp();
  expect(await issue(app)).toMatchObject({ kind: 'rejected', code: 'invoice_seller' });
  await withSeller(app);
  const items = [ITEM, { ...ITEM, description: 'Rakete 🚀' }];
  expect(await issue(app, { draft: { items } })).toEqual({
    kind: 'missing_characters',
    field: 'items.1.description',
    characters: ['🚀'],
  });
  const busy = { render: () => Promise.resolve({ kind: 'busy' } as const), stop: () => Promise.resolve() };
  expect(await issueInvoice({ app, renderer: busy }, wantedInvoice(app), null)).toEqual({ kind: 'busy' });
  expect(await issue(app, { language: 'xx' })).toMatchObject({ code: 'one_of', param: 'language' });
  expect(await issue(app, { email: 'nobody' })).toMatchObject({ code: 'email', param: 'email' });
  expect(await issue(app, { draft: { issuedOn: '2020-01-31' } })).toMatchObject({ code: 'issue_day' });
  await setActive(app, app.projectId, false, 'Shop');
  expect(await issue(app)).toMatchObject({ code: 'project_inactive' });
  expect(await numbers(app)).toEqual([]);
});

it('a form sent twice issues one invoice', async () => {
  const app = await seller();
  const idempotency = keyedRequest(app.projectId, 'form');
  const wanted = wantedInvoice(app);
  const [first, again] = [
    await issueInvoice({ app, renderer: app.renderer }, wanted, idempotency),
    await issueInvoice({ app, renderer: app.renderer }, wanted, idempotency),
  ];
  expect([first.kind, again.kind]).toEqual(['done', 'replayed']);
  // A person whose answer was lost must not believe that nothing was issued.
  const busy = { render: () => Promise.resolve({ kind: 'busy' } as const), stop: () => Promise.resolve() };
  expect((await issueInvoice({ app, renderer: busy }, wanted, idempotency)).kind).toBe('replayed');
  expect(await numbers(app)).toHaveLength(1);
});

it('settings with an odd prefix, rate or number of days, or without a seller are refused', async () => {
  const app = await testApp();
  const usual = { ...(await invoiceSettings(app.db, app.projectId)), sellerLines: ['Shop'] };
  const refused = async (change: Partial<typeof usual>) => {
    const outcome = await changeInvoiceSettings({ app, renderer: app.renderer }, app.projectId, {
      ...usual,
      ...change,
    });
    return outcome.kind === 'rejected' ? outcome.param : outcome.kind === 'invalid' ? outcome.faults[0]?.field : 'done';
  };
  expect(await refused({ prefix: 'Ä-' })).toBe('prefix');
  expect(await refused({ prefix: 'x'.repeat(21) })).toBe('prefix');
  expect(await refused({ prefix: '001' })).toBe('prefix');
  for (const vatRate of [-1, 10_001, NaN]) expect(await refused({ vatRate })).toBe('vatRate');
  for (const dueDays of [-1, 366, 1.5]) expect(await refused({ dueDays })).toBe('dueDays');
  expect(await refused({ sellerLines: [] })).toBe('seller.lines');
  expect(await refused({ sellerLines: ['x'.repeat(5_000)] })).toBe('seller.lines.0');
  expect(await refused({})).toBe('done');
});

it('settings with a seller that no font can print, or while the renderer is busy, are not saved', async () => {
  const app = await seller();
  const before = await invoiceSettings(app.db, app.projectId);
  const save = (change: Partial<typeof before>, renderer = app.renderer) =>
    changeInvoiceSettings({ app, renderer }, app.projectId, { ...before, ...change });
  const missing = { kind: 'missing_characters', characters: ['한', '국'] };
  expect(await save({ sellerLines: ['Shop', '한국'] })).toEqual({ ...missing, field: 'seller.lines' });
  expect(await save({ sellerTaxId: '한국' })).toEqual({ ...missing, field: 'seller.tax_id' });
  const busy = { render: () => Promise.resolve({ kind: 'busy' } as const), stop: () => Promise.resolve() };
  expect(await save({ sellerLines: ['Other'] }, busy)).toEqual({ kind: 'busy' });
  expect(await invoiceSettings(app.db, app.projectId)).toEqual(before);
});
