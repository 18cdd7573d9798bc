import { beforeEach, describe, expect, it } from 'vitest';
import { payRequest, type Payer } from '../../src/app/payment-requests/pay-request.ts';
import { settleDueRequests } from '../../src/app/payment-requests/settle-requests.ts';
import { simulateOutcome } from '../../src/app/sandbox/simulate-outcome.ts';
import { decodeId } from '../../src/domain/id.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import type { Payment } from '../../src/domain/payment.ts';
import type { AuditEntryView } from '../../src/http/dashboard/audit/contract.ts';
import type { RequestDetails, RequestRow } from '../../src/http/dashboard/payment-requests/contract.ts';
import { actsIn, actsTest } from './acts.fixture.ts';

const { test, app, owner, support } = await actsTest();
const viewer = await test.join('viewer');
const NOBODY: Payer = { amountMinor: null, email: null, name: null, note: null, invoiceId: null };

let projectId = '';
beforeEach(async () => {
  ({ projectId } = await test.http.shop());
});

const base = (mode = 'test') => `/dashboard/api/projects/${projectId}/${mode}/payment-requests`;
interface Refused {
  readonly error: { readonly param?: string; readonly message: string };
}
interface Made {
  readonly id: string;
  readonly url: string;
}

let forms = 0;
function create<Body = Made>(fields: object = {}, headers: Readonly<Record<string, string>> = {}, mode = 'test') {
  app.clock.advance(1);
  const body = { request: `form-${(forms += 1)}-x`, title: 'Deposit', amount: '100', currency: 'EUR', ...fields };
  return owner.browser.call<Body>({ method: 'POST', path: base(mode), body, headers });
}

async function created(fields: object = {}): Promise<string> {
  const { status, text, body } = await create(fields);
  if (status !== 200) throw new Error(text);
  return body.id;
}

async function read(id: string, browser = owner.browser): Promise<RequestDetails> {
  return (await browser.call<RequestDetails>({ path: `${base()}/${id}` })).body;
}

async function list(query = ''): Promise<{ readonly data: readonly RequestRow[]; readonly next: string | null }> {
  return (
    await owner.browser.call<{ readonly data: readonly RequestRow[]; readonly next: string | null }>({
      path: `${base()}?${query}`,
    })
  ).body;
}

async function pay(id: string, payer: Partial<Payer> = {}): Promise<Payment> {
  app.clock.advance(1);
  const outcome = await payRequest(app, decodeId('request', id) ?? '', { ...NOBODY, ...payer });
  if (outcome.kind !== 'invoice') throw new Error(JSON.stringify(outcome));
  return outcome.payment;
}

const ofUndefined = { amount: undefined };

describe('payment requests', () => {
  it('are made by a form, with its person in the log, and read with their link and sums', async () => {
    const expires = new Date(app.clock() + 86_400_000).toISOString();
    const made = await create({
      description: ' For the cake ',
      reference: 'CAKE-17',
      expires_at: expires,
      coins: ['BTC', 'USDT/polygon'],
      ask: { email: true, note: true },
    });
    expect(made.body.url).toBe(`https://sandbox.pay.example/request/${made.body.id}`);
    expect(await read(made.body.id)).toMatchObject({
      id: made.body.id,
      status: 'open',
      title: 'Deposit',
      description: 'For the cake',
      reference: 'CAKE-17',
      amount: '100',
      paid: '0',
      left: '100',
      max_payments: 1,
      coins: ['BTC', 'USDT/polygon'],
      ask: { email: true, name: false, note: true },
      url: made.body.url,
      expires_at: expires,
      invoices: [],
      can: { close: true },
    });
    const { body } = await owner.browser.call<{ readonly data: readonly AuditEntryView[] }>({
      path: `/dashboard/api/projects/${projectId}/audit?limit=1`,
    });
    expect(body.data).toMatchObject([
      {
        action: 'payment.request',
        actor: { kind: 'person', name: owner.email },
        subject: { kind: 'payment_request', id: made.body.id },
      },
    ]);
  });

  it('sent twice by one form are one, and other values under its key are refused', async () => {
    const request = 'the-same-form';
    const [first, again] = [await create({ request }), await create({ request })];
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect((await create({ request, title: 'Other' })).status).toBe(409);
    expect((await list()).data).toHaveLength(1);
  });

  it('are listed page by page, newest first, by status, each mode its own', async () => {
    const ids = [];
    for (let count = 0; count < 5; count += 1) ids.push(await created());
    const paid = await created({ title: 'Paid' });
    await simulateOutcome(app, { id: (await pay(paid)).id }, 'paid');
    await owner.browser.call({ method: 'POST', path: `${base()}/${ids[0]}/close` });
    await create({}, {}, 'live');
    while ((await settleDueRequests(app, 100)) > 0);
    const first = await list('limit=4');
    expect(first.data.map(({ id }) => id)).toEqual([paid, ids[4], ids[3], ids[2]]);
    const second = await list(`limit=4&after=${first.next}`);
    expect([second.data.map(({ id }) => id), second.next]).toEqual([[ids[1], ids[0]], null]);
    expect((await list('status=paid')).data).toMatchObject([{ id: paid, paid: '100', left: '0' }]);
    expect((await list('status=closed')).data).toMatchObject([{ id: ids[0] }]);
    for (const bad of ['status=gone', 'after=x', 'limit=0']) {
      expect((await owner.browser.call({ path: `${base()}?${bad}` })).status).toBe(400);
    }
  });

  it('show their invoices, newest first, and are paid at once, before a worker has looked at them', async () => {
    const id = await created({ ask: { email: true }, ...ofUndefined, max_payments: 2 });
    const payments = [];
    for (const amountMinor of [1_000n, 2_000n]) {
      const payment = await pay(id, { amountMinor, email: 'ann@shop.example' });
      payments.push(payment);
      await simulateOutcome(app, { id: payment.id }, 'paid');
    }
    const ids = payments.map(publicPaymentId);
    const shown = await read(id);
    expect(shown).toMatchObject({ status: 'paid', paid: '30', left: null, payments: 2, can: { close: false } });
    expect(shown.invoices.map((one) => one.id)).toEqual(ids.toReversed());
    expect(await actsIn(test, 'test', projectId).read(owner.browser, ids[0] ?? '')).toMatchObject({
      payment_request: id,
      customer_email: 'ann@shop.example',
    });
  });

  it('show the newest twenty invoices and say that there are more', async () => {
    const id = await created({ max_payments: null });
    for (let count = 0; count < 21; count += 1) await pay(id);
    const shown = await read(id);
    expect([shown.invoices.length, shown.has_more_invoices]).toEqual([20, true]);
  });

  it('are closed once, with their unpaid invoice, and then say so', async () => {
    const id = await created();
    const invoice = await pay(id);
    const close = () => owner.browser.call<RequestDetails>({ method: 'POST', path: `${base()}/${id}/close` });
    expect((await close()).body).toMatchObject({ id, status: 'closed', can: { close: false } });
    expect(await app.read(invoice.id)).toMatchObject({ status: 'cancelled' });
    expect((await close()).status).toBe(409);
    expect((await owner.browser.call({ method: 'POST', path: `${base('live')}/${id}/close` })).status).toBe(404);
  });

  it('are only read by those who may not change payments', async () => {
    const id = await created();
    expect(await read(id, viewer.browser)).toMatchObject({ id, can: { close: false } });
    const close = { method: 'POST', path: `${base()}/${id}/close` } as const;
    expect((await viewer.browser.call(close)).status).toBe(403);
    expect((await support.browser.call(close)).status).toBe(404);
    for (const path of [`${base()}/x`, `${base('live')}/${id}`]) {
      expect((await owner.browser.call({ path })).status).toBe(404);
    }
  });

  it.each([
    [{ title: '  ' }, 'title', 'The title must not be empty.', 'Der Titel darf nicht leer sein.'],
    [{ title: '' }, 'title', 'The title must not be empty.', 'Der Titel darf nicht leer sein.'],
    [{ amount: '0' }, 'amount', /^The amount must be a number from 0\.01 to/, /^Der Betrag muss eine Zahl von 0,01/],
    [{ amount: '1.234' }, 'amount', /at most 2 decimals/, /höchstens 2 Nachkommastellen/],
    [{ amount: 'ten' }, 'amount', /must be a number/, /muss eine Zahl/],
    [{ amount: '1e3' }, 'amount', /must be a number/, /muss eine Zahl/],
    [{ ...ofUndefined, min_amount: '9', max_amount: '5' }, 'max_amount', /^The largest amount/, /^Der größte Betrag/],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at', 'The last day must be in the future.', /Zukunft liegen/],
    [{ expires_at: '2999-01-01T00:00:00Z' }, 'expires_at', /at most ten years ahead/, /zehn Jahre/],
    [{ coins: [] }, 'coins', /at least one entry/, /mindestens einen Eintrag/],
    [{ reference: 'x'.repeat(256) }, 'reference', /at most 255/, /höchstens 255/],
  ])('with %j are refused at the field, in the language of the page', async (fields, param, english, german) => {
    const answer = await create<Refused>(fields, { 'accept-language': 'en' });
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
    expect(answer.body.error.message).toMatch(english);
    const { error } = (await create<Refused>(fields, { 'accept-language': 'de' })).body;
    expect(error.message).toMatch(german);
  });

  it('cannot be made by a deactivated project, or in coins that nobody knows', async () => {
    expect((await create<Refused>({ coins: ['XXX'] })).body.error).toMatchObject({ param: 'coins' });
    await test.http.changeProject(projectId, { active: false });
    expect((await create()).status).toBe(409);
  });
});
