import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { encodeId } from '../../domain/id.ts';
import { deliverAll, shop, silentShop, webhookApp, type WebhookApp } from '../webhooks/webhooks.fixture.ts';
import { shopApp, typesAt } from '../webhooks/shop-messages.fixture.ts';
import { runDue } from '../payments/run-due.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { advancePayment, type Advance, type Advanced } from './advance.ts';
import { simulateOutcome } from './simulate-outcome.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const UNANSWERED = { present: (): string => '', idempotency: null };

const outcomeOf = (webhooks: WebhookApp, id: string, advance: Advance) =>
  advancePayment(webhooks.app, webhooks, { id }, advance, UNANSWERED);

async function advanced(webhooks: WebhookApp, id: string, advance: Advance): Promise<Advanced> {
  const outcome = await outcomeOf(webhooks, id, advance);
  if (outcome.kind !== 'done') throw new Error(outcome.kind);
  return outcome.advanced;
}

const whatOf = ({ moments }: Advanced): readonly string[] => moments.map(({ what }) => what);

describe('the time of a test payment', () => {
  it('brings the ten attempts of 68 h 36 min, each signed with the real time', async () => {
    const webhooks = await webhookApp();
    const { app } = webhooks;
    app.clock.set(Date.now());
    const receiver = await shop((response) => response.writeHead(503).end());
    const { secret } = await webhooks.register(receiver.url, { events: 'order.created' });
    const { id, createdAt } = await app.pay();
    await simulateOutcome(app, { id }, 'paid');
    const { moments, now, events } = await advanced(webhooks, id, { kind: 'to_final' });
    expect(moments.map(({ what }) => what)).toEqual(
      Array.from({ length: 10 }, (_, index) => `delivery attempt ${index + 1}: answered 503`),
    );
    expect(now).toBe(createdAt + 68 * HOUR_MS + 36 * MINUTE_MS);
    expect(moments.at(-1)?.at).toBe(now);
    expect(events).toEqual([]);
    expect(receiver.requests).toHaveLength(10);
    for (const { headers, body } of receiver.requests) {
      // A stock verifier refuses anything more than five minutes off.
      expect(() => new Webhook(secret).verify(body, { ...headers } as Record<string, string>)).not.toThrow();
    }
    const attempts = await app.db.selectFrom('delivery_attempts').select('started_at as at').orderBy('id').execute();
    expect(attempts.map(({ at }) => at)).toEqual(moments.map(({ at }) => at));
  });

  it('brings a shop all messages about an invoice, one after the other', async () => {
    const webhooks = await shopApp();
    const { app, receiver } = webhooks;
    const payment = await app.pay({ api: 'invoice', token: { asset: 'BTC', network: 'bitcoin' } });
    const asked = { present: () => '', idempotency: null };
    const outcome = await advancePayment(app, webhooks, { id: payment.id }, { kind: 'to_final' }, asked);
    expect(outcome).toMatchObject({ kind: 'done', advanced: { isFinal: true } });
    expect(typesAt(receiver)).toEqual([
      'InvoiceCreated',
      'InvoiceReceivedPayment',
      'InvoicePaymentSettled',
      'InvoiceSettled',
    ]);
  });

  it('completes it after 60 seconds, and its event is read and sent with that time, but has an id of now', async () => {
    const webhooks = await webhookApp();
    const { app } = webhooks;
    const receiver = await shop();
    await webhooks.register(receiver.url);
    const payment = await app.pay();
    await deliverAll(app, webhooks.deliverer());
    const at = payment.createdAt + MINUTE_MS;
    const order = encodeId('order', payment.id);
    const result = await advanced(webhooks, payment.id, { kind: 'by', ms: HOUR_MS });
    expect(result.moments).toEqual([
      { at, what: 'order completed', object: order },
      { at, what: 'delivery attempt 1: answered 200', object: expect.stringMatching(/^dlv_\d+$/) },
    ]);
    expect(result.now).toBe(payment.createdAt + HOUR_MS);
    const body: unknown = JSON.parse(receiver.requests.at(-1)?.body ?? '');
    expect(body).toMatchObject({ type: 'order.completed', created_at: new Date(at).toISOString() });
    const [event] = await app.db.selectFrom('events').select('id').where('type', '=', 'order.completed').execute();
    expect(result.events).toEqual([encodeId('event', event?.id ?? '')]);
    expect(Number.parseInt((event?.id ?? '').replace('-', '').slice(0, 12), 16)).toBe(app.clock());
    expect(await app.read(payment.id)).toMatchObject({ status: 'completed', completedAt: at });
  });

  it('goes on where it stood, whether or not something happened, and to the next moment alone', async () => {
    const webhooks = await webhookApp();
    const { app } = webhooks;
    const { id, createdAt } = await app.pay({ lifetimeMs: 90 * MINUTE_MS });
    await simulateOutcome(app, { id }, 'part');
    for (const minutes of [40, 80]) {
      const result = await advanced(webhooks, id, { kind: 'by', ms: 40 * MINUTE_MS });
      expect(result).toEqual({ now: createdAt + minutes * MINUTE_MS, moments: [], events: [], isFinal: false });
    }
    const expired = await advanced(webhooks, id, { kind: 'to_next' });
    expect(expired.now).toBe(createdAt + 90 * MINUTE_MS);
    expect(whatOf(expired)).toHaveLength(1);
    expect(await outcomeOf(webhooks, id, { kind: 'to_next' })).toMatchObject({ kind: 'nothing_due' });
    const nothing = { now: expired.now, moments: [], events: [], isFinal: true };
    expect(await advanced(webhooks, id, { kind: 'to_final' })).toEqual(nothing);
    expect(await advanced(webhooks, id, { kind: 'by', ms: 1_000 })).toEqual({ ...nothing, now: expired.now + 1_000 });
  });

  it('leaves nothing for the clock to do again, and nothing else moves', async () => {
    const webhooks = await webhookApp();
    const { app } = webhooks;
    const receiver = await shop();
    await webhooks.register(receiver.url);
    const [one, other] = [await app.pay(), await app.pay()];
    await deliverAll(app, webhooks.deliverer());
    await advanced(webhooks, one.id, { kind: 'to_final' });
    expect(await app.read(other.id)).toEqual(other);
    app.clock.advance(8 * 24 * HOUR_MS);
    expect(await runDue(app, 10)).toBe(1);
    await deliverAll(app, webhooks.deliverer());
    const sent = receiver.requests.map(({ body }) => body);
    expect(sent).toHaveLength(4);
    expect(new Set(sent).size).toBe(4);
  });

  it('makes money that comes after it late', async () => {
    const webhooks = await webhookApp();
    const { app } = webhooks;
    const { id } = await app.pay({ lifetimeMs: MINUTE_MS });
    await advanced(webhooks, id, { kind: 'to_final' });
    expect(await app.read(id)).toMatchObject({ status: 'expired' });
    await simulateOutcome(app, { id }, 'paid');
    expect(await app.read(id)).toMatchObject({ exception: 'paid_late' });
  });
});

describe('what comes after an advance', () => {
  it('goes by the present time: its moments are stepped through, and none is overdue', async () => {
    const webhooks = await webhookApp();
    const { app } = webhooks;
    const { id } = await app.pay();
    await advanced(webhooks, id, { kind: 'to_final' });
    await advanced(webhooks, id, { kind: 'by', ms: 30 * 24 * HOUR_MS });
    const now = app.clock();
    const { projectId } = app;
    const wanted = { projectId, mode: 'test', api: 'order', paymentId: id, address: null, wanted: null, reason: null };
    await createRefund(app, wanted as Parameters<typeof createRefund>[1], null);
    expect(whatOf(await advanced(webhooks, id, { kind: 'by', ms: 1_000 }))).toEqual([]);
    expect(whatOf(await advanced(webhooks, id, { kind: 'by', ms: 1_000 }))).toEqual([]);
    const lapsed = await advanced(webhooks, id, { kind: 'to_next' });
    expect(lapsed.moments).toMatchObject([{ at: now + 7 * 24 * HOUR_MS, what: 'refund failed' }]);
  });

  it('takes its stages one by one, each as long as it was asked for', async () => {
    const webhooks = await webhookApp();
    const { app } = webhooks;
    const { id } = await app.pay({ lifetimeMs: 24 * HOUR_MS });
    await simulateOutcome(app, { id }, 'part');
    await advanced(webhooks, id, { kind: 'by', ms: HOUR_MS });
    const now = app.clock();
    await simulateOutcome(app, { id }, 'paid', 5 * MINUTE_MS);
    const stages = [
      await advanced(webhooks, id, { kind: 'to_next' }),
      await advanced(webhooks, id, { kind: 'to_next' }),
    ];
    expect(stages.flatMap(({ moments }) => moments)).toMatchObject([
      { at: now + 5 * MINUTE_MS, what: 'order confirming' },
      { at: now + 10 * MINUTE_MS, what: 'order completed' },
    ]);
  });
});

describe('beside others', () => {
  it('waits for the answer to a delivery that a worker sends, and does not send it too', async () => {
    const webhooks = await webhookApp();
    const { app } = webhooks;
    const receiver = await silentShop();
    await webhooks.register(receiver.url);
    const { id } = await app.pay();
    const worker = webhooks.deliverer();
    await worker.takeDue();
    const answer = await receiver.next();
    const advancing = advanced(webhooks, id, { kind: 'by', ms: MINUTE_MS });
    answer.writeHead(500).end();
    (await receiver.next()).end();
    (await receiver.next()).end();
    expect(whatOf(await advancing)).toEqual([
      'delivery attempt 2: answered 200',
      'order completed',
      'delivery attempt 1: answered 200',
    ]);
    await worker.idle();
    expect(receiver.requests).toHaveLength(3);
  });

  it('is advanced by one call at a time', async () => {
    const webhooks = await webhookApp();
    const { app } = webhooks;
    const receiver = await shop((response) => response.writeHead(500).end());
    await webhooks.register(receiver.url);
    const { id } = await app.pay();
    const both = await Promise.all([
      outcomeOf(webhooks, id, { kind: 'to_final' }),
      outcomeOf(webhooks, id, { kind: 'to_final' }),
    ]);
    expect(both.map(({ kind }) => kind).toSorted()).toEqual(['busy', 'done']);
    const moments = both.flatMap((one) => (one.kind === 'done' ? one.advanced.moments : []));
    expect(moments).toHaveLength(21);
    expect(receiver.requests).toHaveLength(20);
    const { rows } = await sql`select state, attempts from deliveries`.execute(app.db);
    expect(rows).toEqual([
      { state: 'failed', attempts: 10 },
      { state: 'failed', attempts: 10 },
    ]);
  });

  it('lets deliveries to a paused endpoint wait', async () => {
    const webhooks = await webhookApp();
    const { app } = webhooks;
    const receiver = await shop();
    const { id: endpoint } = await webhooks.register(receiver.url);
    const { id } = await app.pay();
    await app.db.updateTable('webhook_endpoints').set({ paused_at: new Date() }).where('id', '=', endpoint).execute();
    expect(whatOf(await advanced(webhooks, id, { kind: 'to_final' }))).toEqual(['order completed']);
    expect(receiver.requests).toHaveLength(0);
  });
});

it('refuses live payments, unknown ones and more than ten years', async () => {
  const webhooks = await webhookApp();
  const { app } = webhooks;
  const { id } = await app.pay({ lifetimeMs: 24 * HOUR_MS });
  await simulateOutcome(app, { id }, 'part');
  const year = { kind: 'by', ms: 3_650 * 24 * HOUR_MS } as const;
  expect(await outcomeOf(webhooks, '00000000-0000-7000-8000-000000000000', year)).toEqual({ kind: 'not_found' });
  expect(await outcomeOf(webhooks, id, year)).toMatchObject({ kind: 'done' });
  expect(await outcomeOf(webhooks, id, { kind: 'by', ms: 1_000 })).toMatchObject({ kind: 'too_far' });
});
