import { sql } from 'kysely';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isNight } from '../../../test/extent.ts';
import { SIMULATIONS } from '../../domain/simulation.ts';
import { timestamp } from '../../store/database.ts';
import { runDue } from '../payments/run-due.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { runDueRefunds } from '../refunds/end-refunds.ts';
import { deliverAll, shop, webhookApp, type WebhookApp } from '../webhooks/webhooks.fixture.ts';
import { advancePayment, type Advance } from './advance.ts';
import { simulateOutcome } from './simulate-outcome.ts';

const SECOND_MS = 1_000;

const action = fc.oneof(
  fc.record({
    kind: fc.constant('simulate' as const),
    outcome: fc.constantFrom(...SIMULATIONS),
    stageMs: fc.constantFrom(null, 5 * SECOND_MS, 600 * SECOND_MS),
  }),
  fc.record({
    kind: fc.constant('refund' as const),
    reason: fc.constantFrom(null, 'test_failure'),
    hasAddress: fc.boolean(),
  }),
);
type Action = typeof action extends fc.Arbitrary<infer One> ? One : never;

const advance: fc.Arbitrary<Advance> = fc.oneof(
  fc.record({
    kind: fc.constant('by' as const),
    ms: fc.integer({ min: 1, max: 8 * 86_400 }).map((n) => n * SECOND_MS),
  }),
  fc.record({ kind: fc.constant('by' as const), ms: fc.integer({ min: 1, max: 120 }).map((n) => n * SECOND_MS) }),
  fc.constant({ kind: 'to_next' as const }),
);

const history = fc.record({
  lifetimeMs: fc.constantFrom(60 * SECOND_MS, 300 * SECOND_MS, 1_800 * SECOND_MS),
  /** How many attempts of each event the endpoint refuses. */
  refused: fc.integer({ min: 0, max: 11 }),
  first: fc.array(action, { maxLength: 2 }),
  advances: fc.array(advance, { maxLength: 4 }),
  last: fc.array(action, { maxLength: 2 }),
});

/** A service whose endpoint refuses the first attempts of each event. */
async function service() {
  const webhooks = await webhookApp();
  const seen = new Map<string, number>();
  let refused = 0;
  const receiver = await shop((response, { headers }) => {
    const id = String(headers['webhook-id']);
    seen.set(id, (seen.get(id) ?? 0) + 1);
    response.writeHead((seen.get(id) ?? 0) <= refused ? 500 : 200).end();
  });
  await webhooks.register(receiver.url);
  return { webhooks, refuse: (attempts: number) => void (refused = attempts) };
}

async function act({ app }: WebhookApp, id: string, what: Action): Promise<string> {
  if (what.kind === 'simulate') return (await simulateOutcome(app, { id }, what.outcome, what.stageMs)).kind;
  const { projectId, quote } = await app.read(id);
  const address = what.hasAddress ? (quote?.address ?? null) : null;
  const refund = { projectId, mode: 'test', api: 'order', paymentId: id, address, wanted: null, reason: what.reason };
  return (await createRefund(app, refund as Parameters<typeof createRefund>[1], null)).kind;
}

/** The next time at which something of the payment is due by itself; null if there is none. */
async function dueAt({ app }: WebhookApp, id: string): Promise<number | null> {
  const { rows } = await sql<{ at: number | null }>`
    select min(at) as at from (
      select due_at as at from payments where id = ${id}
      union all select due_at from refunds where payment_id = ${id}
      union all select d.next_attempt_at from deliveries d join events e on e.id = d.event_id where e.payment_id = ${id}
    ) due`.execute(app.db);
  return rows[0]?.at ?? null;
}

/** The workers' turns whenever the clock was moved: to each time at which something is due, and to the end. */
async function moveClock(webhooks: WebhookApp, id: string, target: Advance | { readonly kind: 'to_final' }) {
  const { app } = webhooks;
  const runAt = async (at: number): Promise<void> => {
    if (at > app.clock()) app.clock.set(at);
    while ((await runDue(app, 100)) > 0);
    while ((await runDueRefunds(app, 100)) > 0);
    await deliverAll(app, webhooks.deliverer());
  };
  const start = app.clock();
  const isDue = (at: number | null): at is number => at !== null && at <= app.clock();
  while (isDue(await dueAt(webhooks, id))) await runAt(app.clock());
  let until = target.kind === 'by' ? start + target.ms : target.kind === 'to_final' ? Infinity : -1;
  for (let at = await dueAt(webhooks, id); at !== null; at = await dueAt(webhooks, id)) {
    if (until < 0) until = at;
    if (at > until) break;
    await runAt(at);
  }
  if (target.kind === 'by') app.clock.set(until);
}

/** Everything that the history left, with its times counted from the creation. */
async function found({ app }: WebhookApp, id: string, hasTimes: boolean): Promise<object> {
  const { status, exception, failureReason, createdAt, completedAt } = await app.read(id);
  const time = (at: number | null) => (hasTimes && at !== null ? at - createdAt : at !== null);
  const { rows: events } = await sql<{ type: string; at: number }>`
    select type, created_at as at from events where payment_id = ${id}
    order by (body::jsonb ->> 'sequence')::int`.execute(app.db);
  const { rows: attempts } = await sql<{ type: string; state: string; attempts: number; at: number | null }>`
    select e.type, d.state, d.attempts, a.started_at as at from events e join deliveries d on d.event_id = e.id
    left join delivery_attempts a on a.delivery_id = d.id
    where e.payment_id = ${id} order by (e.body::jsonb ->> 'sequence')::int, a.id`.execute(app.db);
  const { rows: refunds } = await sql<{ status: string; at: number | null }>`
    select status, completed_at as at from refunds where payment_id = ${id} order by id`.execute(app.db);
  return {
    payment: { status, exception, failureReason, completedAt: time(completedAt) },
    events: events.map(({ type, at }) => [type, time(at)]),
    attempts: attempts.map(({ at, ...one }) => [one, time(at)]),
    refunds: refunds.map(({ at, ...one }) => [one, time(at)]),
  };
}

it('gives the same statuses, events and attempts as a clock that is moved, in a hundred random histories', async () => {
  const [moved, real] = [await service(), await service()];
  const advanceReal = async (id: string, target: Advance): Promise<void> => {
    const { webhooks } = real;
    const outcome = await advancePayment(webhooks.app, webhooks, { id }, target, {
      present: () => '',
      idempotency: null,
    });
    expect(['done', 'nothing_due']).toContain(outcome.kind);
  };
  await fc.assert(
    fc.asyncProperty(history, async ({ lifetimeMs, refused, first, advances, last }) => {
      for (const { refuse } of [moved, real]) refuse(refused);
      const ids = [await moved.webhooks.app.pay({ lifetimeMs }), await real.webhooks.app.pay({ lifetimeMs })] as const;
      const [one, other] = [ids[0].id, ids[1].id];
      const same = async (hasTimes: boolean): Promise<void> =>
        expect(await found(real.webhooks, other, hasTimes)).toEqual(await found(moved.webhooks, one, hasTimes));
      for (const what of first)
        expect(await act(real.webhooks, other, what)).toBe(await act(moved.webhooks, one, what));
      for (const target of advances) {
        const isOver = (await dueAt(moved.webhooks, one)) === null;
        if (!isOver || target.kind === 'by') await moveClock(moved.webhooks, one, target);
        await advanceReal(other, target);
        await same(true);
      }
      for (const what of last) expect(await act(real.webhooks, other, what)).toBe(await act(moved.webhooks, one, what));
      await moveClock(moved.webhooks, one, { kind: 'to_final' });
      await advanceReal(other, { kind: 'to_final' });
      await same(last.length === 0);
      // Later calls of the real clock find nothing.
      const { app } = real.webhooks;
      const due = await app.db
        .selectFrom('deliveries')
        .select('id')
        .where('next_attempt_at', '<=', timestamp(1e14))
        .execute();
      expect(due).toEqual([]);
    }),
    { numRuns: isNight ? 1_000 : 100 },
  );
});
