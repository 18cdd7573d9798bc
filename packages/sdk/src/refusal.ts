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
  const told = (
    'error' in body && typeof body.error === 'object' && body.error !== null ? body.error : body
  ) as Refusal;
  const message = told.message ?? `The service answered ${status}.`;
  const facts = { ...known, type: told.type };
  if (status === 401) return new AuthenticationError(message, facts);
  if (status === 403) return new PermissionError(message, facts);
  if (status === 404) return new NotFoundError(message, facts);
  if (status === 409) return new ConflictError(message, facts);
  const oldest = Number(told.oldest);
  if (status === 410 && Number.isSafeInteger(oldest)) return new GoneError(message, { ...facts, oldest });
  if (status === 429) return new RateLimitError(message, { ...facts, retryAfter: retryAfterOf(headers) });
  if (status >= 500) return new ServerError(message, facts);
  if (status === 408) return new CointillError(message, facts);
  return new InvalidRequestError(message, { ...facts, field: told.param ?? firstWord(message) });
}

/** The seconds to wait, which may be given as a date; at least one. */
export function retryAfterOf(headers: Headers): number {
  const text = headers.get('retry-after') ?? '';
  const seconds = Number(text) || Math.ceil((Date.parse(text) - Date.now()) / 1_000);
  return seconds > 0 ? seconds : 1;
}

/** The Transaction API names the field in its message alone: a first word that begins no sentence. */
function firstWord(message: string): string | undefined {
  return /^(?:[a-z_]+|Idempotency-Key)(?= )/.exec(message)?.[0];
}
