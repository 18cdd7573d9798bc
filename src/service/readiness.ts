import { sql } from 'kysely';
import { networkStatus, type NetworkStatus } from '../app/chains/network-status.ts';
import { within } from '../app/within.ts';
import type { Cointill } from './core.ts';
import type { Readiness } from '../http/health.ts';
import { exhaustion, writeProblem } from '../store/backups/check-database.ts';
import type { DatabaseHandle } from '../store/database.ts';
import type { Listening } from '../store/notifications.ts';

/** A supervisor waits only a few seconds, and a slower service is of no use to customers either. */
const READY_WITHIN_MS = 3_000;

/** Beside the pool's connections each process needs some of its own, which open last. */
const NO_ANSWER =
  'the connection that saves orders does not respond; a pooler may have too few connections, because each process needs DATABASE_POOL and five more';

/** A part that may fail while the service works. */
export interface WatchedPart {
  /** The name of the part in `/readyz`. */
  readonly name: string;
  /** Describes the fault of the part; null: the part works. */
  problem(): string | null | Promise<string | null>;
}

/**
 * Checks everything that the service needs to work. Without the database or its notifications the service is not ready.
 * A network with a problem or warning, or one of the `parts` with a problem, degrades the service and leaves it ready,
 * because payments on other networks and the sandbox continue.
 */
export async function readiness(
  core: Pick<Cointill, 'app' | 'handle' | 'networks'>,
  notifications: Pick<Listening, 'problem'>,
  parts: readonly WatchedPart[] = [],
  withinMs: number = READY_WITHIN_MS,
): Promise<Readiness> {
  const [database, states, watched] = await Promise.all([
    databaseProblem(core.handle, withinMs),
    within(withinMs, networkStatus(core.app, core.networks)).catch((): readonly NetworkStatus[] => []),
    Promise.all(parts.map(async (part) => [part.name, await part.problem()] as const)),
  ]);
  const listening = notifications.problem();
  const survived = [...watched, ...states.map((state) => [state.network, problemOf(state)] as const)];
  const problems = [['database', database] as const, ['notifications', listening] as const, ...survived];
  return {
    ok: database === null && listening === null,
    checks: Object.fromEntries(problems.map(([name, problem]) => [name, problem ?? 'ok'])),
    degraded: survived.some(([, problem]) => problem !== null),
  };
}

function problemOf({ problem, warnings }: NetworkStatus): string | null {
  if (problem !== null) return problem;
  return warnings.length === 0 ? null : warnings.join('; ');
}

async function databaseProblem(handle: DatabaseHandle, withinMs: number): Promise<string | null> {
  const { db, pipeline } = handle;
  const [role, means, saves] = await Promise.all([
    within(withinMs, writeProblem(db)).then(
      (problem) =>
        problem === null ? null : `DATABASE_URL leads to ${problem.replace(/^read-only$/, 'a read-only database')}`,
      () => 'not reachable',
    ),
    within(withinMs, meansProblem(handle)).catch(() => 'not reachable'),
    answersSaves(db, pipeline, withinMs),
  ]);
  return role ?? means ?? (saves ? null : NO_ANSWER);
}

/** After a refused statement, tries to write until a write works; a database that refused nothing is not asked. */
async function meansProblem(handle: DatabaseHandle): Promise<string | null> {
  if (!handle.isExhausted()) return null;
  const problem = await exhaustion(handle.db);
  if (problem === null) handle.hasMeans();
  return problem === null ? null : `refuses to save orders: ${problem}`;
}

/** Asks on the connection that saves orders only while it saves none: the answers to orders prove the same. */
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
