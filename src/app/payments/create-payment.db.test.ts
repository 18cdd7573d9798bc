import { expect, it } from 'vitest';
import { keyedRequest, newPayment, testApp } from '../../../test/harness.ts';
import { countPayments, listPayments } from '../../store/payments/payments.ts';
import type { Activity } from '../observer.ts';

it('numbers of transactions are gapless under concurrency, also past refused requests', async () => {
  const app = await testApp();
  const create = (index: number) =>
    app.creator.create(
      newPayment(app.projectId, {
        api: 'transaction',
        token: index % 7 === 0 ? { asset: 'DOGE', network: null } : null,
      }),
      (payment) => payment.transactionNumber ?? '',
      null,
    );
  const outcomes = await Promise.all(Array.from({ length: 700 }, (_, index) => create(index)));
  const numbers = outcomes.flatMap((outcome) => (outcome.kind === 'done' ? [outcome.body] : [])).toSorted();
  expect(numbers).toEqual(Array.from({ length: 600 }, (_, index) => `TXN-2026-${String(index + 1).padStart(6, '0')}`));
});

it('observers get exactly the payments of a batch that were saved', async () => {
  const emitted: Activity[] = [];
  const app = await testApp({ observer: (activity) => void emitted.push(activity) });
  const create = (asset: string) => {
    const request = newPayment(app.projectId, { api: 'transaction', token: { asset, network: null } });
    return app.creator.create(request, ({ id }) => id, null);
  };
  const outcomes = await Promise.all(['BTC', 'DOGE', 'LTC', 'DOGE'].map(create));
  expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'refused', 'done', 'refused']);
  const saved = emitted.flatMap((one) => (one.kind === 'batch_saved' ? [one.payments] : []));
  expect(saved.reduce((sum, payments) => sum + payments, 0)).toBe(2);
  const created = emitted.flatMap((one) => (one.kind === 'payments_created' ? one.changes : []));
  expect(created.map(({ after }) => after.quote?.asset)).toEqual(['BTC', 'LTC']);
  await create('DOGE');
  expect(emitted).toHaveLength(2 * saved.length);
});

it('a payment, its event, its delivery and its count are saved together', async () => {
  const app = await testApp();
  const payment = await app.pay({ merchantOrderId: 'A-1', metadata: { cart: '7' } });
  expect(payment).toMatchObject({ status: 'pending', mode: 'test', lastSequence: 1, metadata: { cart: '7' } });
  expect(payment.quote).toMatchObject({ asset: 'BTC', network: 'bitcoin', owedUnits: 166_667n });
  expect(payment.expiresAt - payment.createdAt).toBe(30 * 60_000);
  const [event] = await app.db.selectFrom('events').selectAll().execute();
  expect(JSON.parse(event?.body ?? '')).toMatchObject({
    type: 'order.created',
    sequence: 1,
    data: { status: 'pending', amount: 100, crypto_amount: 0.00166667, metadata: { cart: '7', order_id: 'A-1' } },
  });
  const scope = { projectId: app.projectId, modes: ['test'] as const, api: 'order' as const };
  const counts = await countPayments(app.db, scope, { createdFrom: null, createdBefore: null });
  expect([...counts]).toEqual([['pending', { payments: 1, usdCents: 10_000n }]]);
});

it('lists are ordered by time and id, whatever the filter, and a page never repeats a payment', async () => {
  const app = await testApp();
  for (let index = 0; index < 30; index += 1) {
    if (index % 3 === 0) app.clock.advance(1);
    await app.pay(index % 2 === 0 ? {} : { api: 'transaction', token: null });
  }
  const scope = {
    projectId: app.projectId,
    mode: 'test' as const,
    modes: ['test'] as const,
    api: 'order' as const,
  };
  const all = { statuses: null, createdFrom: null, createdBefore: null };
  const pages = await Promise.all([0, 5, 10].map((offset) => listPayments(app.db, scope, all, { limit: 5, offset })));
  const ids = pages.flat().map((payment) => payment.id);
  expect(new Set(ids).size).toBe(15);
  const filtered = { ...all, statuses: ['created', 'prepared', 'pending'] as const };
  expect((await listPayments(app.db, scope, filtered, { limit: 15, offset: 0 })).map((payment) => payment.id)).toEqual(
    ids,
  );
});

it('the same idempotency key creates one payment, also when both requests arrive at once', async () => {
  const app = await testApp();
  const idempotency = keyedRequest(app.projectId, 'cart-1');
  const create = (bodyHash = idempotency.bodyHash) =>
    app.creator.create(newPayment(app.projectId), (payment) => payment.id, { ...idempotency, bodyHash });
  const [first, second] = await Promise.all([create(), create()]);
  expect(first.kind).toBe('done');
  expect(second.kind).toBe('still_running');
  expect(await create()).toEqual({ kind: 'replayed', body: first.kind === 'done' ? first.body : '' });
  expect(await create(Buffer.from('bb'))).toEqual({ kind: 'key_reused' });
  app.clock.advance(24 * 60 * 60_000 + 1);
  expect((await create()).kind).toBe('done');
});
