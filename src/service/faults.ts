import { OtherChainError } from '../app/chains/find-fork.ts';
import { NodeBehindError } from '../app/chains/follow-chain.ts';
import { OverloadedError } from '../app/batch.ts';
import { BackupError } from '../archive/format.ts';
import { RequestError } from '../http/errors.ts';
import { ChainUnavailableError } from '../rails/chain.ts';
import { UnfitDatabaseError } from '../store/unfit-database.ts';
import { SealingKeyError } from '../webhooks/secret.ts';
import { StandbyError } from '../store/long-reads.ts';

/**
 * An error as it is logged: only these fields, because a database's `detail` repeats the row, including customer data.
 */
export interface LoggedFault {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly constraint?: string;
  readonly stack?: string;
  readonly cause?: LoggedFault;
}

const MAX_CAUSES = 3;

export function faultFields(fault: unknown, depth = 0): LoggedFault {
  if (!(fault instanceof Error)) return { type: typeof fault, message: String(fault) };
  const code = textOf(fault, 'code');
  const constraint = textOf(fault, 'constraint');
  return {
    type: fault.name,
    message: messageOf(fault),
    ...(code === null ? {} : { code }),
    ...(constraint === null ? {} : { constraint }),
    ...(fault.stack === undefined ? {} : { stack: fault.stack }),
    ...(fault.cause === undefined || depth >= MAX_CAUSES ? {} : { cause: faultFields(fault.cause, depth + 1) }),
  };
}

/** The message of a fault, in one line. */
export function messageOf(problem: unknown): string {
  if (typeof problem === 'string') return problem;
  if (!(problem instanceof Error)) return String(problem);
  // An error for several failed addresses has no message of its own.
  const first: unknown = problem instanceof AggregateError ? problem.errors[0] : undefined;
  return problem.message || (first === undefined ? '' : messageOf(first)) || textOf(problem, 'code') || problem.name;
}

/** System error codes: the other side cannot be reached. */
const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);
/** PostgreSQL's codes: broken connection, out of resources, stopped by an operator, read-only. */
const DATABASE_AWAY = /^(?:08|53|57)[0-9A-Z]{3}$|^25006$/;
/** Errors that pg reports only as text. */
const BROKEN_CONNECTION = /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered)/;

/** Errors whose message says everything. */
const EXPLAINED = [
  BackupError,
  ChainUnavailableError,
  NodeBehindError,
  OtherChainError,
  OverloadedError,
  RequestError,
  SealingKeyError,
  StandbyError,
  UnfitDatabaseError,
] as const;

/**
 * Whether the fault is of a known kind and its message is enough. Any other fault is a bug, and is logged with its
 * stack.
 */
export function isExplained(problem: unknown): boolean {
  if (!(problem instanceof Error) || EXPLAINED.some((kind) => problem instanceof kind)) return true;
  const code = textOf(problem, 'code') ?? '';
  return AWAY.has(code) || DATABASE_AWAY.test(code) || BROKEN_CONNECTION.test(problem.message);
}

function textOf(fault: Error, field: string): string | null {
  const value: unknown = Reflect.get(fault, field);
  return typeof value === 'string' ? value : null;
}
