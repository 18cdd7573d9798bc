import { sql } from 'kysely';
import { networkStatus, type NetworkStatus } from '../app/chains/network-status.ts';
import { within } from '../app/within.ts';
import type { Cointill } from './core.ts';
import type { Readiness } from '../http/health.ts';
import type { SharedRedis } from '../http/redis.ts';
import { writeProblem } from '../store/check-database.ts';
import type { DatabaseHandle } from '../store/database.ts';
import type { Listening } from '../store/notifications.ts';

/** A supervisor only waits a few seconds, and a slower service is of no use to customers either. */
const READY_WITHIN_MS = 3_000;

/** Parts that may fail while the service works; null: not used. */
interface ReadinessParts {
  readonly redis?: Pick<SharedRedis, 'problem'> | null;
  readonly backups?: { problem(): string | null } | null;
  readonly mailer?: { problem(): string | null } | null;
}

/**
 * Checks what the service needs to work. A network with a problem or warning is reported but does not make the service
 * unready, because payments on other networks and the sandbox continue. The same holds for a Redis that is down, as
 * each process then counts rate limits for itself, for scheduled backups that fail, and for a mail server.
 */
export async function readiness(
  core: Pick<Cointill, 'app' | 'handle' | 'networks'>,
  notifications: Pick<Listening, 'problem'>,
  { redis = null, backups = null, mailer = null }: ReadinessParts = {},
  withinMs: number = READY_WITHIN_MS,
): Promise<Readiness> {
  const [database, states] = await Promise.all([
    databaseProblem(core.handle, withinMs),
    within(withinMs, networkStatus(core.app, core.networks)).catch((): readonly NetworkStatus[] => []),
  ]);
  const listening = notifications.problem();
  const away = redis?.problem() ?? null;
  const limits =
    redis === null ? {} : { redis: away === null ? 'ok' : `rate limits count in this process alone: ${away}` };
  const unmade = backups?.problem() ?? null;
  const scheduled = backups === null ? {} : { backups: unmade ?? 'ok' };
  const unsent = mailer?.problem() ?? null;
  const mails = mailer === null ? {} : { mail: unsent ?? 'ok' };
  const networks = Object.fromEntries(states.map((state) => [state.network, troubleOf(state) ?? 'ok']));
  return {
    ok: database === null && listening === null,
    checks: {
      database: database ?? 'ok',
      notifications: listening ?? 'ok',
      ...limits,
      ...scheduled,
      ...mails,
      ...networks,
    },
    degraded:
      [away, unmade, unsent].some((problem) => problem !== null) || states.some((state) => troubleOf(state) !== null),
  };
}

function troubleOf({ problem, warnings }: NetworkStatus): string | null {
  if (problem !== null) return problem;
  return warnings.length === 0 ? null : warnings.join('; ');
}

async function databaseProblem({ db, pipeline }: DatabaseHandle, withinMs: number): Promise<string | null> {
  const [role, saves] = await Promise.all([
    within(withinMs, writeProblem(db)).then(
      (problem) =>
        problem === null ? null : `DATABASE_URL leads to ${problem.replace(/^read-only$/, 'a read-only one')}`,
      () => 'not reachable',
    ),
    answersSaves(db, pipeline, withinMs),
  ]);
  return role ?? (saves ? null : 'no answer on the connection that saves orders');
}

/** Asks on the connection that saves orders only while it saves none: otherwise the answers to orders prove enough. */
async function answersSaves(
  db: DatabaseHandle['db'],
  pipeline: DatabaseHandle['pipeline'],
  withinMs: number,
): Promise<boolean> {
  const unansweredMs = pipeline.unansweredMs();
  if (unansweredMs !== null) return unansweredMs < withinMs;
  return within(withinMs, pipeline.executeQuery(sql`select 1`.compile(db))).then(
    () => true,
    () => false,
  );
}
