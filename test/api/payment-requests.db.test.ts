import { afterAll, describe, expect, it } from 'vitest';
import { payRequest, type Payer } from '../../src/app/payment-requests/pay-request.ts';
import { settleDueRequests } from '../../src/app/payment-requests/settle-requests.ts';
import { runDue } from '../../src/app/payments/run-due.ts';
import { simulateOutcome } from '../../src/app/sandbox/simulate-outcome.ts';
import { decodeId } from '../../src/domain/id.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import type { Payment } from '../../src/domain/payment.ts';
import type { Simulation } from '../../src/domain/simulation.ts';
import { httpTest, type Fields, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const REQUEST = { title: 'Deposit', amount: 100, currency: 'EUR' };
const NOBODY: Payer = { amountMinor: null, email: null, name: null, note: null, invoiceId: null };

async function created(shop: Shop, fields: object = {}): Promise<Fields> {
  const { status, body } = await shop.call({ path: '/v1/payment_requests', body: { ...REQUEST, ...fields } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

function uuidOf({ id }: Fields): string {
  const uuid = decodeId('request', id);
  if (uuid === null) throw new Error(`${id} is no id of a request`);
  return uuid;
}

const pay = (request: Fields, payer: Partial<Payer> = {}) =>
  payRequest(http.app, uuidOf(request), { ...NOBODY, ...payer });

async function invoiceOf(request: Fields, payer: Partial<Payer> = {}): Promise<Payment> {
  const outcome = await pay(request, payer);
  if (outcome.kind !== 'invoice') throw new Error(JSON.stringify(outcome));
  return outcome.payment;
}

async function become({ id }: Payment, simulation: Simulation): Promise<void> {
  const outcome = await simulateOutcome(http.app, { id }, simulation);
  if (outcome.kind !== 'changed') throw new Error(JSON.stringify(outcome));
}

/** Settles what is due, and reads the request. */
async function read(shop: Shop, { id }: Fields): Promise<Fields> {
  http.clock.advance(1);
  while ((await settleDueRequests(http.app, 100)) > 0);
  return (await shop.call({ path: `/v1/payment_requests/${id}` })).body;
}

async function eventsOf(shop: Shop): Promise<readonly string[]> {
  const rows = await http.app.db
    .selectFrom('events')
    .select(['type'])
    .where('project_id', '=', shop.projectId)
    .orderBy('id')
    .execute();
  return rows.map(({ type }) => type).filter((type) => type.startsWith('payment_request.'));
}

describe('money at the end of a request', () => {
  it('that came just before it is closed makes it paid', async () => {
    const shop = await http.shop();
    const request = await created(shop);
    await become(await invoiceOf(request), 'paid');
    const closed = await shop.call({ path: `/v1/payment_requests/${request.id}/close`, body: {} });
    expect(closed.status).toBe(400);
    expect(closed.text).toContain('cannot be closed because it is paid');
    expect(await read(shop, request)).toMatchObject({ status: 'paid', amount_paid: 100 });
    expect(await eventsOf(shop)).toEqual(['payment_request.paid']);
  });

  it('that makes up its sum cancels the invoice that still asks', async () => {
    const shop = await http.shop();
    const request = await created(shop);
    const first = await invoiceOf(request);
    await become(first, 'part');
    await become(first, 'expired');
    const second = await invoiceOf(request);
    await become(first, 'late');
    expect(await read(shop, request)).toMatchObject({ status: 'paid', amount_paid: 100 });
    const { body } = await shop.call({ path: `/v1/invoices/${publicPaymentId(second)}` });
    expect(body.status).toBe('cancelled');
  });

  it('that may never be confirmed holds nobody up', async () => {
    const shop = await http.shop();
    const request = await created(shop);
    await become(await invoiceOf(request), 'failed');
    expect(await read(shop, request)).toMatchObject({ amount_pending: 0, amount_left: 100 });
    await become(await invoiceOf(request), 'paid');
    expect(await read(shop, request)).toMatchObject({ status: 'paid', amount_paid: 100 });
  });

  it('in a part cannot be accepted as the whole, because the rest is asked for again', async () => {
    const shop = await http.shop();
    const accepted = async (fields: object) => {
      const request = await created(shop, fields);
      const invoice = await invoiceOf(request);
      await become(invoice, 'part');
      await become(invoice, 'expired');
      const { status, text } = await shop.call({
        path: `/v1/invoices/${publicPaymentId(invoice)}/accept`,
        body: {},
      });
      return { status, text, request };
    };
    const { status, text, request } = await accepted({});
    expect([status, text]).toEqual([400, expect.stringContaining('counts as a part of its payment request')]);
    expect(await read(shop, request)).toMatchObject({ payments: 0, amount_paid: 50, amount_left: 50 });
    // A request that is paid more often does not ask for the rest.
    expect((await accepted({ max_payments: 2 })).status).toBe(200);
  });

  it('in a part is worth what the books say', async () => {
    const shop = await http.shop();
    const request = await created(shop, { amount: 20 });
    await become(await invoiceOf(request), 'part');
    expect(await read(shop, request)).toMatchObject({ amount_paid: 10, amount_left: 10 });
  });
});

describe('a payment request', () => {
  it('answers what was asked for, and where payers go; nothing is quoted', async () => {
    const shop = await http.shop();
    const request = await created(shop, {
      reference: 'CAKE-17',
      expires_at: '2099-01-01T00:00:00Z'.replace('2099', String(new Date(http.clock()).getUTCFullYear() + 1)),
      ask: { email: true, note: true },
      metadata: { shelf: '7' },
    });
    expect(request).toMatchObject({
      ...REQUEST,
      id: expect.stringMatching(/^req_[0-9a-hjkmnp-tv-z]{26}$/),
      object: 'payment_request',
      status: 'open',
      reference: 'CAKE-17',
      amount_paid: 0,
      amount_pending: 0,
      amount_refunded: 0,
      amount_left: 100,
      payments: 0,
      max_payments: 1,
      ask: { email: true, name: false, note: true },
      metadata: { shelf: '7' },
      url: `https://sandbox.pay.example/request/${request.id}`,
      ended_at: null,
    });
    expect(await read(shop, request)).toEqual(request);
    expect((await shop.call({ path: '/v1/payment_requests' })).body).toMatchObject({
      data: [request],
      pagination: { total: 1 },
    });
    expect((await shop.call({ path: '/v1/invoices' })).body).toMatchObject({ data: [] });
  });

  it('that is paid in full is paid, and tells so once', async () => {
    const shop = await http.shop();
    const request = await created(shop, { ask: { email: true, note: true } });
    const invoice = await invoiceOf(request, { email: 'ann@example.com', name: 'Ann', note: 'Blue ribbon' });
    const { body } = await shop.call({ path: `/v1/invoices/${publicPaymentId(invoice)}` });
    expect(body).toMatchObject({
      amount: 100,
      currency: 'EUR',
      description: 'Deposit',
      payment_request: request.id,
      customer_email: 'ann@example.com',
      customer_name: null,
      metadata: { note: 'Blue ribbon' },
    });
    await become(invoice, 'paid');
    expect(await read(shop, request)).toMatchObject({ status: 'paid', amount_paid: 100, amount_left: 0, payments: 1 });
    expect(await eventsOf(shop)).toEqual(['payment_request.paid']);
    expect(await pay(request)).toEqual({ kind: 'refused', reason: 'ended' });
  });

  it('counts a part, asks for the rest at the price of its moment, and is paid by both', async () => {
    const shop = await http.shop();
    const request = await created(shop);
    const first = await invoiceOf(request);
    await become(first, 'part');
    const part = await read(shop, request);
    expect(part).toMatchObject({ status: 'open', amount_paid: 50, amount_left: 50, payments: 0 });
    expect(await invoiceOf(request)).toMatchObject({ id: first.id });
    http.clock.advance(31 * 60_000);
    await runDue(http.app, 100);
    const second = await invoiceOf(request);
    expect([second.id === first.id, second.amountMinor]).toEqual([false, 5_000n]);
    await become(second, 'paid');
    expect(await read(shop, request)).toMatchObject({ status: 'paid', amount_paid: 100, amount_left: 0 });
    expect(await eventsOf(shop)).toEqual(['payment_request.part', 'payment_request.paid']);
  });

  it('stays as it was when its invoice ends unpaid', async () => {
    const shop = await http.shop();
    const request = await created(shop);
    await become(await invoiceOf(request), 'expired');
    expect(await read(shop, request)).toEqual(request);
    expect(await eventsOf(shop)).toEqual([]);
  });

  it('keeps late money and too much of it, and refunds are told apart', async () => {
    const shop = await http.shop();
    const request = await created(shop);
    await become(await invoiceOf(request), 'late');
    expect(await read(shop, request)).toMatchObject({ status: 'paid', amount_paid: 100 });
    const other = await created(shop);
    const over = await invoiceOf(other);
    await become(over, 'over');
    const paid = await read(shop, other);
    expect([paid['status'], Number(paid['amount_paid']) > 100]).toEqual(['paid', true]);
    await shop.call({
      path: '/v1/refunds',
      body: { invoice_id: publicPaymentId(over), amount: 10, address: '0x52908400098527886E0F7030069857D2E4169EE7' },
    });
    const refunded = await read(shop, other);
    expect(refunded).toMatchObject({ status: 'paid', amount_paid: paid['amount_paid'] });
  });

  it('has one invoice at a time for an amount that is asked for once, whoever comes', async () => {
    const shop = await http.shop();
    const request = await created(shop);
    const made = await Promise.all(Array.from({ length: 20 }, () => invoiceOf(request)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect((await shop.call({ path: '/v1/invoices' })).body).toMatchObject({ pagination: { total: 1 } });
  });

  it('takes as many payments as it says, and holds a place while somebody pays', async () => {
    const shop = await http.shop();
    const request = await created(shop, { max_payments: 2 });
    const all = await Promise.all(Array.from({ length: 10 }, () => pay(request)));
    const got = all.filter(({ kind }) => kind === 'invoice');
    expect([got.length, all.filter((one) => one.kind === 'refused' && one.reason === 'taken').length]).toEqual([2, 8]);
    const [one, two] = got.flatMap((outcome) => (outcome.kind === 'invoice' ? [outcome.payment] : []));
    if (one === undefined || two === undefined) throw new Error('Two were expected.');
    expect(await invoiceOf(request, { invoiceId: two.id })).toMatchObject({ id: two.id });
    await become(one, 'paid');
    expect(await read(shop, request)).toMatchObject({
      status: 'open',
      payments: 1,
      amount_paid: 100,
      amount_left: null,
    });
    await become(two, 'expired');
    await become(await invoiceOf(request), 'paid');
    expect(await read(shop, request)).toMatchObject({ status: 'paid', payments: 2, amount_paid: 200 });
    expect(await eventsOf(shop)).toEqual(['payment_request.part', 'payment_request.paid']);
  });

  it('without an amount takes what is typed within its bounds, as often as people like', async () => {
    const shop = await http.shop();
    const request = await created(shop, { amount: null, min_amount: 5, max_amount: 500, max_payments: null });
    for (const amountMinor of [null, 0n, 499n, 50_001n, -1n]) {
      expect(await pay(request, { amountMinor })).toEqual({ kind: 'refused', reason: 'amount' });
    }
    for (const amountMinor of [500n, 50_000n]) await become(await invoiceOf(request, { amountMinor }), 'paid');
    expect(await read(shop, request)).toMatchObject({ status: 'open', payments: 2, amount_paid: 505 });
  });

  it('is closed by hand: its unpaid invoice is cancelled, and money that is on its way counts', async () => {
    const shop = await http.shop();
    const [idle, busy] = [await created(shop), await created(shop)];
    const unpaid = await invoiceOf(idle);
    const paying = await invoiceOf(busy);
    await become(paying, 'confirming');
    for (const { id } of [idle, busy]) {
      const closed = await shop.call({ method: 'POST', path: `/v1/payment_requests/${id}/close` });
      expect([closed.status, closed.body]).toMatchObject([200, { status: 'closed' }]);
      const again = await shop.call({ method: 'POST', path: `/v1/payment_requests/${id}/close` });
      expect([again.status, again.text]).toMatchObject([400, expect.stringContaining('because it is closed')]);
    }
    expect([await http.app.read(unpaid.id), await http.app.read(paying.id)]).toMatchObject([
      { status: 'cancelled' },
      { status: 'confirming' },
    ]);
    expect(await pay(busy)).toEqual({ kind: 'refused', reason: 'ended' });
    http.clock.advance(1);
    await become(paying, 'paid');
    expect(await read(shop, busy)).toMatchObject({ status: 'paid', amount_paid: 100 });
    expect(await eventsOf(shop)).toEqual(['payment_request.closed', 'payment_request.closed', 'payment_request.paid']);
  });

  it('ends with its date, and then takes nobody', async () => {
    const shop = await http.shop();
    const request = await created(shop, { expires_at: new Date(http.clock() + 60_000).toISOString() });
    http.clock.advance(60_000);
    expect(await pay(request)).toEqual({ kind: 'refused', reason: 'ended' });
    expect(await read(shop, request)).toMatchObject({ status: 'expired' });
    expect(await eventsOf(shop)).toEqual(['payment_request.closed']);
  });

  it('of another project or mode is not there, and the same key makes it once', async () => {
    const [shop, other] = [await http.shop(), await http.shop()];
    const headers = { 'idempotency-key': 'one' };
    const make = () => shop.call({ path: '/v1/payment_requests', body: REQUEST, headers });
    const [first, second] = [await make(), await make()];
    expect([second.status, second.body]).toEqual([200, first.body]);
    for (const call of [
      { path: `/v1/payment_requests/${first.body.id}` },
      { method: 'POST', path: `/v1/payment_requests/${first.body.id}/close` } as const,
    ]) {
      expect((await other.call(call)).status).toBe(404);
      expect((await shop.call({ side: 'live', ...call })).status).toBe(404);
    }
    expect((await shop.call({ as: { kind: 'public' }, path: '/v1/payment_requests', body: REQUEST })).status).toBe(403);
  });

  it.each([
    [{ title: ' ' }, 'title', /empty/],
    [{ title: 'x'.repeat(5_000) }, 'title', /at most 200/],
    [{ amount: 0 }, 'amount', /from 0\.01/],
    [{ amount: -1 }, 'amount', /from 0\.01/],
    [{ amount: 'x' }, 'amount', /number/],
    [{ currency: 'XXX' }, 'currency', /one of/],
    [{ min_amount: 5 }, 'min_amount', /only be given with amount null/],
    [{ amount: null, min_amount: 9, max_amount: 5 }, 'max_amount', /less than min_amount/],
    [{ amount: null, max_amount: 0 }, 'max_amount', /from 0\.01/],
    [{ max_payments: 0 }, 'max_payments', /1/],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at', /future/],
    [{ expires_at: 'tomorrow' }, 'expires_at', /with its zone/],
    [{ expires_at: '2026-02-31T00:00:00' }, 'expires_at', /with its zone/],
    [{ expires_at: '2027-02-30T00:00:00Z' }, 'expires_at', /with its zone/],
    [{ title: 'Cake \u202egnp.exe' }, 'title', /direction of text/],
    [{ title: '\u200b' }, 'title', /not be empty/],
    [{ ask: { note: true }, metadata: { note: 'mine' } }, 'metadata', /must not have the key note/],
    [{ coins: ['XXX'] }, 'coins', /neither/],
    [{ success_url: 'javascript:1' }, 'success_url', /http/],
  ])('with %j is refused by name', async (fields, param, rule) => {
    const shop = await http.shop();
    const { status, body } = await shop.call({ path: '/v1/payment_requests', body: { ...REQUEST, ...fields } });
    expect([status, body]).toMatchObject([400, { error: { param, message: expect.stringMatching(rule) } }]);
  });
});
