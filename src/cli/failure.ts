/** A command cannot do its work: the message is plain, names the thing and the rule, and ends with the way out. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

/** A typed value is invalid by itself, regardless of stored data: the command ends as for any wrong usage. */
export class UsageFailure extends CommandFailure {}

/** The message of an error. An error for several failed attempts at a connection has no message of its own. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(reasonOf).join('; ');
  }
  if (!(error instanceof Error)) return String(error);
  return error.message === '' ? (codeOf(error) ?? error.name) : error.message;
}

/** The system's code of an error (`EADDRINUSE`), its own or its cause's. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause);
}
