import { describe, expect, it } from 'vitest';
import { COMPLETE_AFTER_MS, testApp, type TestApp } from '../../../test/harness.ts';
import { SIMULATIONS } from '../../domain/simulation.ts';
import { findTransfers } from '../../store/payments/transfers.ts';
import { acceptPayment } from './payment-actions.ts';
import { runDue } from './run-due.ts';
import { simulatePayment } from './simulate-payment.ts';

async function eventTypes(app: Awaited<ReturnType<typeof testApp>>): Promise<readonly string[]> {
  const rows = await app.db.selectFrom('events').select(['type', 'body']).execute();
  const sequence = (row: { readonly body: string }): number => (JSON.parse(row.body) as { sequence: number }).sequence;
  return rows.toSorted((a, b) => sequence(a) - sequence(b)).map((row) => row.type);
}

/** Facts of a payment that was paid exactly once. */
async function paidOnce(app: TestApp, id: string) {
  const { status, exception, quote, received } = await app.read(id);
  return { status, exception, excess: received.all.confirmedUnits - (quote?.owedUnits ?? 0n) };
}
const PAID_ONCE = { status: 'completed', exception: 'none', excess: 0n };

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
  replaced: {
    status: 'completed',
    exception: 'none',
    events: ['order.created', 'order.confirming', 'order.completed'],
  },
  reorged: {
    status: 'completed',
    exception: 'reorged',
    events: ['order.created', 'order.confirming', 'order.completed', 'order.exception'],
  },
  wrong_asset: { status: 'pending', exception: 'none', events: ['order.created', 'payment.wrong_asset'] },
} as const;

for (const simulation of SIMULATIONS.filter((one) => one !== 'refund_reorged')) {
  for (const api of ['order', 'transaction'] as const) {
    it(`a simulated ${simulation} of a ${api} walks the real transitions with their events and stops the timer`, async () => {
      const app = await testApp();
      const payment = await app.pay(
        api === 'order' ? { token: { asset: 'USDC', network: 'ethereum' } } : { api, token: null },
      );
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
    expect(await paidOnce(app, id)).toEqual(PAID_ONCE);
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
  expect(await paidOnce(app, order.id)).toEqual(PAID_ONCE);
});

describe('a simulated reorganisation', () => {
  it('takes back the money of a completed payment, which can be paid again', async () => {
    const app = await testApp();
    const { id } = await app.pay();
    await simulatePayment(app, { id }, 'paid');
    await simulatePayment(app, { id }, 'reorged');
    expect(await app.read(id)).toMatchObject({ status: 'completed', exception: 'reorged' });
    expect(await simulatePayment(app, { id }, 'reorged')).toMatchObject({ kind: 'refused', reason: 'not_open' });
    await simulatePayment(app, { id }, 'paid');
    expect(await paidOnce(app, id)).toEqual(PAID_ONCE);
  });
});

describe('a simulated replacement', () => {
  it('of detected money drops its transaction, and another one pays the same', async () => {
    const app = await testApp();
    const { id } = await app.pay();
    await simulatePayment(app, { id }, 'paid', 3_000);
    await simulatePayment(app, { id }, 'replaced');
    const transfers = (await findTransfers(app.db, [id])).get(id) ?? [];
    expect(transfers.map(({ state }) => state).toSorted()).toEqual(['confirmed', 'dropped']);
    expect(new Set(transfers.map(({ transactionHash }) => transactionHash)).size).toBe(2);
    expect(await app.read(id)).toMatchObject({ status: 'completed', exception: 'none' });
  });

  it('and what follows never write over a transfer that is there', async () => {
    const app = await testApp();
    const [first, second] = [await app.pay(), await app.pay()];
    for (const simulation of ['confirming', 'over', 'paid'] as const)
      await simulatePayment(app, { id: first.id }, simulation);
    await simulatePayment(app, { id: second.id }, 'paid', 3_000);
    for (const simulation of ['replaced', 'paid', 'part'] as const)
      await simulatePayment(app, { id: second.id }, simulation);
    const counts = await findTransfers(app.db, [first.id, second.id]);
    expect([counts.get(first.id)?.length, counts.get(second.id)?.length]).toEqual([3, 4]);
    const { quote, received } = await app.read(second.id);
    expect(received.all.confirmedUnits).toBeGreaterThan(2n * (quote?.owedUnits ?? 0n));
  });

  it('does not happen to money in a block', async () => {
    const app = await testApp();
    const { id } = await app.pay();
    await simulatePayment(app, { id }, 'confirming');
    expect(await simulatePayment(app, { id }, 'replaced')).toMatchObject({ kind: 'refused', reason: 'not_open' });
  });
});

it('no wrong asset can be simulated where the network has one asset alone', async () => {
  const app = await testApp();
  const { id } = await app.pay({ token: { asset: 'BTC', network: 'bitcoin' } });
  expect(await simulatePayment(app, { id }, 'wrong_asset')).toMatchObject({ kind: 'refused', reason: 'only_asset' });
});
