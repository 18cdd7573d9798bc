import {
  AuthenticationError,
  CointillError,
  ConflictError,
  type ErrorFacts,
  GoneError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from './errors.ts';

interface Refusal {
  readonly message?: string;
  readonly type?: string;
  readonly param?: string;
  readonly oldest?: number;
}

/** The error of a refusal by either API: `{ error: { type, message, param } }` or `{ success: false, message }`. */
export function refusal(body: object, { status, headers }: Response, known: ErrorFacts): CointillError {
  const told = ('error' in body && typeof body.error === 'object' ? body.error : body) as Refusal;
  const message = told.message ?? `The service answered ${status}.`;
  const facts = { ...known, type: told.type };
  if (status === 401) return new AuthenticationError(message, facts);
  if (status === 403) return new PermissionError(message, facts);
  if (status === 404) return new NotFoundError(message, facts);
  if (status === 409) return new ConflictError(message, facts);
  if (status === 410) return new GoneError(message, { ...facts, oldest: Number(told.oldest) });
  if (status === 429)
    return new RateLimitError(message, { ...facts, retryAfter: Number(headers.get('retry-after')) || 1 });
  if (status >= 500) return new ServerError(message, facts);
  if (status === 408) return new CointillError(message, facts);
  return new InvalidRequestError(message, { ...facts, field: told.param ?? firstWord(message) });
}

/** The Transaction API names the field in its message alone: a first word that begins no sentence. */
function firstWord(message: string): string | undefined {
  return /^(?:[a-z_]+|Idempotency-Key)(?= )/.exec(message)?.[0];
}
