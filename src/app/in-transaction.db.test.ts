import { expect, it } from 'vitest';
import { testApp } from '../../test/harness.ts';
import { forRequest } from './context.ts';
import { inTransaction, emitAfterCommit } from './in-transaction.ts';
import type { Activity } from './observer.ts';
import { cancelPayment } from './payments/payment-actions.ts';
import { simulatePayment } from './payments/simulate-payment.ts';
import { runDue } from './payments/run-due.ts';

/** An app whose activities are collected. */
async function observedApp() {
  const emitted: Activity[] = [];
  const app = await testApp({ observer: (activity) => void emitted.push(activity) });
  return { app, take: (): readonly Activity[] => emitted.splice(0) };
}

it('activities are emitted after the commit, in order', async () => {
  const { app, take } = await observedApp();
  const seen: number[] = [];
  await inTransaction(app, async (trx) => {
    emitAfterCommit(trx, { kind: 'batch_saved', payments: 1, seconds: 0 });
    emitAfterCommit(trx, { kind: 'batch_saved', payments: 2, seconds: 0 });
    await app.read((await app.pay()).id);
    seen.push(take().filter(({ kind }) => kind !== 'payments_created').length);
  });
  // Only the payment's own batch was emitted before the commit.
  expect(seen).toEqual([1]);
  expect(take()).toMatchObject([{ payments: 1 }, { payments: 2 }]);
});

it('activities of a rolled back transaction are not emitted', async () => {
  const { app, take } = await observedApp();
  const undone = inTransaction(app, async (trx) => {
    emitAfterCommit(trx, { kind: 'batch_saved', payments: 1, seconds: 0 });
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(take()).toEqual([]);
});

it('a batch that the database refused is emitted payment by payment, once they are saved', async () => {
  const { app, take } = await observedApp();
  const outcomes = await Promise.allSettled([
    app.pay({ description: 'fine' }),
    app.pay({ description: 'NUL \0' }),
    app.pay({ description: 'fine too' }),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const created = take().flatMap((one) => (one.kind === 'payments_created' ? one.changes : []));
  expect(created.map(({ after }) => after.description)).toEqual(['fine', 'fine too']);
});

it('a refused change emits nothing, and a made one names its request', async () => {
  const { app, take } = await observedApp();
  const order = await app.pay({ requestId: 'creates' });
  const [created] = take().flatMap((one) => (one.kind === 'payments_created' ? one.changes : []));
  expect(created?.events.map(({ requestId }) => requestId)).toEqual(['creates']);

  expect(await cancelPayment(forRequest(app, 'cancels'), { id: order.id })).toMatchObject({ kind: 'changed' });
  expect(take()).toMatchObject([
    {
      kind: 'payment_changed',
      requestId: 'cancels',
      change: {
        transitions: [{ from: 'pending', to: 'cancelled' }],
        events: [{ type: 'order.cancelled', requestId: 'cancels' }],
      },
    },
  ]);
  expect(await cancelPayment(forRequest(app, 'again'), { id: order.id })).toMatchObject({ kind: 'refused' });
  expect(take()).toEqual([]);
  const events = await app.db.selectFrom('events').select(['type', 'request_id']).orderBy('created_at').execute();
  expect(events).toEqual([
    { type: 'order.created', request_id: 'creates' },
    { type: 'order.cancelled', request_id: 'cancels' },
  ]);
});

it('changes made by time have no request', async () => {
  const { app, take } = await observedApp();
  const order = await app.pay({ requestId: 'creates' });
  take();
  app.clock.set(order.completesAt ?? 0);
  await runDue(app, 10);
  expect(take()).toMatchObject([
    { kind: 'payment_changed', requestId: null, change: { transitions: [{ from: 'pending', to: 'completed' }] } },
  ]);
  await simulatePayment(app, { id: (await app.pay()).id }, 'part');
  expect(take().at(-1)).toMatchObject({ change: { transitions: [], after: { exception: 'underpaid' } } });
});
