import { describe, expect, it, onTestFinished } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/database.ts';
import { COMPLETE_AFTER_MS, testApp, type TestApp } from '../../../test/harness.ts';
import { SIMULATIONS } from '../../domain/simulation.ts';
import { testRates } from '../../rates/fixed.ts';
import { openDatabase, type Database } from '../../store/database.ts';
import { etherRail, liveOrder, setWallet } from '../chains/follow-chain.fixture.ts';
import { runDue } from './run-due.ts';
import { acceptPayment, cancelPayment, completeSandboxPayment, selectToken } from './payment-actions.ts';
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

const OUTCOMES = {
  paid: { status: 'completed', exception: 'none', events: ['order.created', 'order.confirming', 'order.completed'] },
  confirming: { status: 'confirming', exception: 'none', events: ['order.created', 'order.confirming'] },
  part: { status: 'pending', exception: 'underpaid', events: ['order.created', 'order.exception'] },
  over: {
    status: 'completed',
    exception: 'overpaid',
    events: ['order.created', 'order.confirming', 'order.completed', 'order.exception'],
  },
  late: { status: 'expired', exception: 'paid_late', events: ['order.created', 'order.expired', 'order.exception'] },
  failed: { status: 'failed', exception: 'none', events: ['order.created', 'order.confirming', 'order.failed'] },
  expired: { status: 'expired', exception: 'none', events: ['order.created', 'order.expired'] },
} as const;

for (const simulation of SIMULATIONS) {
  for (const api of ['order', 'transaction'] as const) {
    it(`a simulated ${simulation} of a ${api} walks the real transitions with their events and stops the timer`, async () => {
      const app = await testApp();
      const payment = await app.pay(api === 'order' ? {} : { api, token: null });
      const outcome = await simulatePayment(app, { id: payment.id }, simulation);
      expect(outcome.kind).toBe('changed');
      const { events, ...state } = OUTCOMES[simulation];
      expect(await app.read(payment.id)).toMatchObject({ ...state, completesAt: null });
      expect(await eventTypes(app)).toEqual(events);
      app.clock.advance(COMPLETE_AFTER_MS);
      expect(await runDue(app, 10)).toBe(0);
    });
  }
}

describe('a simulated payment by stages', () => {
  const STAGE_MS = 3_000;
  const statusesOf = async (app: TestApp, id: string) => {
    const rows = await app.db
      .selectFrom('payment_arrows')
      .select('to_status')
      .where('payment_id', '=', id)
      .orderBy('id')
      .execute();
    return rows.map(({ to_status: to }) => to);
  };

  it.each(['paid', 'over'] as const)(
    'is seen, confirming and completed, one stage after the other: %s',
    async (simulation) => {
      const app = await testApp();
      const { id } = await app.pay();
      await simulatePayment(app, { id }, simulation, STAGE_MS);
      expect(await app.read(id)).toMatchObject({ status: 'processing', completesAt: app.clock() + STAGE_MS });
      app.clock.advance(STAGE_MS - 1);
      expect(await runDue(app, 10)).toBe(0);
      app.clock.advance(1);
      await runDue(app, 10);
      const confirming = await app.read(id);
      expect(confirming).toMatchObject({ status: 'confirming', completesAt: app.clock() + STAGE_MS });
      expect(await app.railFor('test').confirmations(confirming)).toEqual({ have: 1, need: expect.any(Number) });
      app.clock.advance(STAGE_MS);
      await runDue(app, 10);
      const exception = simulation === 'over' ? 'overpaid' : 'none';
      expect(await app.read(id)).toMatchObject({ status: 'completed', exception, completesAt: null });
      expect((await statusesOf(app, id)).slice(-3)).toEqual(['processing', 'confirming', 'completed']);
      // Too much is known as soon as it is seen.
      expect(new Set(await eventTypes(app))).toEqual(new Set(OUTCOMES[simulation].events));
      app.clock.advance(60_000);
      expect(await runDue(app, 10)).toBe(0);
    },
  );

  it('goes on where it was after the service was away', async () => {
    const app = await testApp();
    const { id } = await app.pay();
    await simulatePayment(app, { id }, 'paid', STAGE_MS);
    app.clock.advance(60 * 60_000);
    await runDue(app, 10);
    expect(await app.read(id)).toMatchObject({ status: 'confirming', completesAt: app.clock() + STAGE_MS });
    app.clock.advance(STAGE_MS);
    await runDue(app, 10);
    expect(await app.read(id)).toMatchObject({ status: 'completed', exception: 'none' });
  });

  it('stops where another step is simulated, and its money does not come twice', async () => {
    const app = await testApp();
    const { id } = await app.pay();
    await simulatePayment(app, { id }, 'paid', STAGE_MS);
    await simulatePayment(app, { id }, 'confirming');
    expect(await app.read(id)).toMatchObject({ status: 'confirming', completesAt: null });
    await simulatePayment(app, { id }, 'paid');
    const paid = await app.read(id);
    expect(paid).toMatchObject({ status: 'completed', exception: 'none' });
    expect(paid.received.all.confirmedUnits).toBe(paid.quote?.owedUnits);
  });

  it('is refused what cannot happen while its money counts, and nothing comes twice', async () => {
    const app = await testApp();
    const { id } = await app.pay();
    await simulatePayment(app, { id }, 'paid', STAGE_MS);
    for (const status of ['processing', 'confirming'] as const) {
      const before = await app.read(id);
      expect(before.status).toBe(status);
      for (const simulation of ['late', 'part'] as const) {
        expect(await simulatePayment(app, { id }, simulation)).toMatchObject({ kind: 'refused', reason: 'not_open' });
      }
      // Its timer goes on too.
      expect(await app.read(id)).toEqual(before);
      app.clock.advance(STAGE_MS);
      await runDue(app, 10);
    }
    const { status, received, quote } = await app.read(id);
    expect([status, received.all.confirmedUnits]).toEqual(['completed', quote?.owedUnits]);
  });

  it('can fail while it is seen', async () => {
    const app = await testApp();
    const { id } = await app.pay();
    await simulatePayment(app, { id }, 'paid', STAGE_MS);
    await simulatePayment(app, { id }, 'failed');
    const failed = await app.read(id);
    expect(failed).toMatchObject({ status: 'failed', failureReason: 'unconfirmed', completesAt: null });
    expect(failed.received.all.seenUnits).toBe(failed.quote?.owedUnits);
  });
});

it('a late payment can be accepted, and then counts as completed', async () => {
  const app = await testApp();
  const order = await app.pay();
  await simulatePayment(app, { id: order.id }, 'late');
  expect((await acceptPayment(app, { id: order.id })).kind).toBe('changed');
  expect(await app.read(order.id)).toMatchObject({ status: 'completed', exception: 'paid_late' });
  expect(await acceptPayment(app, { id: order.id })).toMatchObject({ kind: 'refused', reason: 'already_completed' });
});

it('a part is topped up by a simulated payment to exactly what was owed', async () => {
  const app = await testApp();
  const order = await app.pay();
  await simulatePayment(app, { id: order.id }, 'part');
  await simulatePayment(app, { id: order.id }, 'paid');
  const paid = await app.read(order.id);
  expect(paid).toMatchObject({ status: 'completed', exception: 'none' });
  expect(paid.received.all.confirmedUnits).toBe(paid.quote?.owedUnits);
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
