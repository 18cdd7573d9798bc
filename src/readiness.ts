import { sql } from 'kysely';
import { networkStatus, type NetworkStatus } from './app/network-status.ts';
import type { Cointill } from './core.ts';
import type { Readiness } from './http/health.ts';
import type { Notifications } from './store/notifications.ts';

/** A supervisor waits for a few seconds only, and what takes longer is of no use to customers either. */
const READY_WITHIN_MS = 3_000;

/** A network in trouble is told of and takes nothing away: payments on the others, and the sandbox, go on. */
export async function readiness(
  core: Pick<Cointill, 'app' | 'handle' | 'networks'>,
  notifications: Pick<Notifications, 'healthy'>,
  withinMs: number = READY_WITHIN_MS,
): Promise<Readiness> {
  const { db, pipeline } = core.handle;
  const question = sql`select 1`;
  const answers = (answer: Promise<unknown>): Promise<boolean> =>
    within(withinMs, answer).then(
      () => true,
      () => false,
    );
  const [reads, saves, states] = await Promise.all([
    answers(question.execute(db)),
    answers(pipeline.executeQuery(question.compile(db))),
    within(withinMs, networkStatus(core.app, core.networks)).catch((): readonly NetworkStatus[] => []),
  ]);
  const database = !reads ? 'not reachable' : saves ? 'ok' : 'no answer on the connection that saves orders';
  const listening = notifications.healthy() ? 'ok' : 'not listening';
  const networks = Object.fromEntries(states.map(({ network, problem }) => [network, problem ?? 'ok']));
  return {
    ok: database === 'ok' && listening === 'ok',
    checks: { database, notifications: listening, ...networks },
    degraded: states.some(({ problem }) => problem !== null),
  };
}

/** What `work` resolves with; fails when it takes longer. The work itself goes on. */
async function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
