import { DatabaseError } from 'pg';
import type { Mode } from '../domain/permission.ts';
import { findAnswer, purgeOldAnswer } from '../store/projects/answers.ts';
import type { IdempotentAnswer } from '../store/payments/save-changes.ts';
import type { App } from './context.ts';
import { inTransaction, type ObservedTrx } from './in-transaction.ts';

/** Answers are kept for 24 hours. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60_000;

/**
 * A request that carries an `Idempotency-Key`. `route` is method and path, for a public key preceded by the key's id.
 */
export interface IdempotencyRequest {
  readonly projectId: string;
  readonly mode: Mode;
  readonly route: string;
  readonly key: string;
  readonly bodyHash: Buffer;
}

/** Why a repeated request is not executed again. */
export type Replay =
  | { readonly kind: 'replayed'; readonly body: string }
  /** The same key was used with another body. */
  | { readonly kind: 'key_reused' }
  /** The first request with this key is still running. */
  | { readonly kind: 'still_running' };

/**
 * Executes a request once per key. If the same key is already running in this process, the request is refused. If
 * another process runs it, the unique key of the stored answer detects that: the answer is saved in the same
 * transaction as the work, so `run` returns `answer_conflict`, and the stored answer is replayed. After a crash no key
 * counts as running.
 */
export async function withIdempotency<Result extends { readonly kind: string }>(
  app: App,
  request: IdempotencyRequest | null,
  run: () => Promise<Result | { readonly kind: 'answer_conflict' }>,
): Promise<Exclude<Result, { readonly kind: 'answer_conflict' }> | Replay> {
  type Done = Exclude<Result, { readonly kind: 'answer_conflict' }>;
  if (request === null) return (await run()) as Done;
  const name = JSON.stringify([request.projectId, request.mode, request.route, request.key]);
  const { runningKeys } = app.memory;
  if (runningKeys.has(name)) return { kind: 'still_running' };
  runningKeys.add(name);
  try {
    const since = app.clock() - IDEMPOTENCY_LIFETIME_MS;
    const stored = await findAnswer(app.db, request, since);
    if (stored !== null) return replay(request, stored);
    await purgeOldAnswer(app.db, request, since);
    const result = await run();
    if (result.kind !== 'answer_conflict') return result as Done;
    const other = await findAnswer(app.db, request, since);
    return other === null ? { kind: 'still_running' } : replay(request, other);
  } finally {
    runningKeys.delete(name);
  }
}

/**
 * Like `withIdempotency`, for work in one transaction. The work saves its answer with the request's key, or throws the
 * conflict of two answers.
 */
export function inTransactionOnce<Result extends { readonly kind: string }>(
  app: App,
  request: IdempotencyRequest | null,
  work: (trx: ObservedTrx) => Promise<Result>,
): Promise<Exclude<Result, { readonly kind: 'answer_conflict' }> | Replay> {
  return withIdempotency<Result>(app, request, async () => {
    try {
      return await inTransaction(app, work);
    } catch (error) {
      if (isAnswerConflict(error)) return { kind: 'answer_conflict' };
      throw error;
    }
  });
}

function replay(request: IdempotencyRequest, stored: { readonly bodyHash: Buffer; readonly response: string }): Replay {
  return stored.bodyHash.equals(request.bodyHash)
    ? { kind: 'replayed', body: stored.response }
    : { kind: 'key_reused' };
}

/** The row of a stored answer. */
export function answerRow(request: IdempotencyRequest, response: string, now: number): IdempotentAnswer {
  return { ...request, response, createdAt: now };
}

/** Whether a write failed because another request with the same key was saved first. */
export function isAnswerConflict(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23505' && error.constraint === 'idempotency_keys_pkey';
}

/** Whether the server itself refused the write, so that nothing was saved; false when the connection broke. */
export function wasRolledBack(error: unknown): boolean {
  return error instanceof DatabaseError && !(error.code ?? '').startsWith('57');
}
