import { describe, expect, it, onTestFinished } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/database.ts';
import { COMPLETE_AFTER_MS, testApp } from '../../../test/harness.ts';
import { testRates } from '../../rates/fixed.ts';
import { openDatabase, type Database } from '../../store/database.ts';
import { etherRail, liveOrder, setWallet } from '../chains/follow-chain.fixture.ts';
import { runDue } from './run-due.ts';
import { cancelPayment, completeSandboxPayment, selectToken } from './payment-actions.ts';
import { simulatePayment } from './simulate-payment.ts';

async function eventTypes(app: Awaited<ReturnType<typeof testApp>>): Promise<readonly string[]> {
  const rows = await app.db.selectFrom('events').select(['type', 'body']).execute();
  const sequence = (row: { readonly body: string }): number => (JSON.parse(row.body) as { sequence: number }).sequence;
  return rows.toSorted((a, b) => sequence(a) - sequence(b)).map((row) => row.type);
}

it('a test payment completes by itself 60 seconds after creation and sends order.completed alone', async () => {
  const app = await testApp();
  const order = await app.pay();
  const transaction = await app.pay({ api: 'transaction', token: null });
  app.clock.advance(COMPLETE_AFTER_MS - 1);
  expect(await runDue(app, 10)).toBe(0);
  app.clock.advance(1);
  expect(await runDue(app, 10)).toBe(2);
  for (const { id } of [order, transaction]) {
    const completed = await app.read(id);
    expect(completed).toMatchObject({ status: 'completed', exception: 'none', completedAt: app.clock() });
    expect(completed.transactionHash).toMatch(/^[0-9a-f]{64}$/);
    expect(completed.received.all.confirmedUnits).toBe(completed.quote?.owedUnits);
  }
  expect(await eventTypes(app)).toEqual(['order.created', 'order.created', 'order.completed', 'order.completed']);
});

it('a lifetime of at most 60 seconds expires instead of completing', async () => {
  const app = await testApp();
  const order = await app.pay({ lifetimeMs: 60_000 });
  app.clock.advance(60_000);
  await runDue(app, 10);
  expect((await app.read(order.id)).status).toBe('expired');
  expect(await eventTypes(app)).toEqual(['order.created', 'order.expired']);
});

it('cancelling stops the timer, and a cancelled payment never completes by itself', async () => {
  const app = await testApp();
  const order = await app.pay();
  expect((await cancelPayment(app, { id: order.id })).kind).toBe('changed');
  app.clock.advance(24 * 60 * 60_000);
  expect(await runDue(app, 10)).toBe(0);
  expect((await app.read(order.id)).status).toBe('cancelled');
});

it('choosing a token walks to pending, keeps the timer, and completion pays that token', async () => {
  const app = await testApp();
  const transaction = await app.pay({ api: 'transaction', token: null });
  expect(transaction.status).toBe('created');
  await selectToken(app, { id: transaction.id }, { asset: 'ETH', network: null });
  expect((await app.read(transaction.id)).status).toBe('pending');
  app.clock.advance(COMPLETE_AFTER_MS);
  await runDue(app, 10);
  expect(await app.read(transaction.id)).toMatchObject({ status: 'completed', quote: { asset: 'ETH' } });
  const transitions = await app.db
    .selectFrom('payment_arrows')
    .select(['from_status', 'to_status'])
    .orderBy('id')
    .execute();
  expect(transitions.map((transition) => `${transition.from_status} ${transition.to_status}`)).toEqual([
    'created prepared',
    'prepared pending',
    'pending completed',
  ]);
});

it('completing by hand is done once', async () => {
  const app = await testApp();
  const order = await app.pay();
  expect((await completeSandboxPayment(app, { id: order.id })).kind).toBe('changed');
  expect(await completeSandboxPayment(app, { id: order.id })).toMatchObject({
    kind: 'refused',
    reason: 'already_completed',
  });
  expect(await eventTypes(app)).toEqual(['order.created', 'order.completed']);
});

it('a service that was down past the expiry still completes what its timer would have completed before', async () => {
  const app = await testApp();
  const order = await app.pay();
  app.clock.advance(60 * 60_000);
  await runDue(app, 10);
  expect(await app.read(order.id)).toMatchObject({ status: 'completed', exception: 'none' });
});

it('completing a partly paid payment by hand adds just what was missing', async () => {
  const app = await testApp();
  const order = await app.pay();
  await simulatePayment(app, { id: order.id }, 'part');
  await completeSandboxPayment(app, { id: order.id });
  const completed = await app.read(order.id);
  expect(completed).toMatchObject({ status: 'completed', exception: 'none' });
  expect(completed.received.all.confirmedUnits).toBe(completed.quote?.owedUnits);
});

describe('payments that are due on chains', () => {
  /**
   * Live orders in ether whose chain nobody follows, so that their deadlines wait; all of it, the rail too, on `open`.
   */
  async function overdue(count: number, open: (database: TestDatabase) => Database = ({ db }) => db) {
    const given = await testDatabase();
    const database = { ...given, db: open(given) };
    const app = await testApp({ database, live: ({ db }) => etherRail(db, testRates()) });
    await setWallet(app, app.projectId);
    const orders = [];
    for (let made = 0; made < count; made += 1) orders.push(await app.pay(liveOrder(app.projectId)));
    const last = orders.at(-1);
    if (last === undefined) throw new Error('there is no order');
    app.clock.set(last.expiresAt);
    return { app, orders, expiresAt: last.expiresAt };
  }

  const dueAt = async (app: { readonly db: Database }, { id }: { readonly id: string }): Promise<number | null> =>
    (await app.db.selectFrom('payments').select('due_at').where('id', '=', id).executeTakeFirstOrThrow()).due_at;

  it('are processed on the one connection that locks them, however many there are', async () => {
    const { app, orders } = await overdue(3, ({ url }) => {
      const single = openDatabase({ connectionString: url }, { maxConnections: 1, onError: () => {} });
      onTestFinished(() => single.close());
      return single.db;
    });
    const transaction = await app.pay({ api: 'transaction', token: null });
    app.clock.set(transaction.expiresAt);
    expect(await runDue(app, 250)).toBe(4);
    for (const order of orders) expect((await app.read(order.id)).status).toBe('pending');
    expect((await app.read(transaction.id)).status).toBe('completed');
  });

  it('take as many statements for fifty as for two', async () => {
    const statements = async (count: number): Promise<number> => {
      let asked = 0;
      const { app } = await overdue(count, ({ db }) =>
        db.withPlugin({
          transformQuery: ({ node }) => {
            asked += 1;
            return node;
          },
          transformResult: ({ result }) => Promise.resolve(result),
        }),
      );
      asked = 0;
      expect(await runDue(app, 250)).toBe(count);
      return asked;
    };
    expect(await statements(50)).toBe(await statements(2));
  });

  it('are polled less and less often, from two seconds up to a minute, while their chain is not followed', async () => {
    const { app, orders, expiresAt } = await overdue(1);
    const [order] = orders;
    if (order === undefined) throw new Error('there is no order');
    const rests: number[] = [];
    while (rests.length < 8) {
      await runDue(app, 10);
      const next = (await dueAt(app, order)) ?? 0;
      rests.push(next - app.clock());
      app.clock.set(next);
    }
    expect(rests).toEqual([2_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(app.clock()).toBe(expiresAt + 184_000);
  });
});
