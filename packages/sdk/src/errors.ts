/** The facts that belong to a failure. None of them contains the key or a secret. */
export interface ErrorFacts {
  /** The HTTP status; undefined if no answer came. */
  readonly status?: number | undefined;
  /** The type that the service gave, such as `invalid_request_error`. */
  readonly type?: string | undefined;
  /** The id under which the service logged the request. */
  readonly requestId?: string | undefined;
  /** The key of a POST. The same call with this `idempotencyKey` cannot happen twice. */
  readonly idempotencyKey?: string | undefined;
}

type Given<Own> = ErrorFacts & Own & { readonly cause?: unknown };

/** The base of all errors that this package throws. The message names the field, the rule and the way out. */
export class CointillError<Own = object> extends Error implements ErrorFacts {
  override readonly name: string = 'CointillError';
  declare readonly status?: number | undefined;
  declare readonly type?: string | undefined;
  declare readonly requestId?: string | undefined;
  declare readonly idempotencyKey?: string | undefined;

  constructor(message: string, { cause, ...facts }: Given<Own>) {
    super(message, cause === undefined ? {} : { cause });
    Object.assign(this, facts);
  }
}

/** The key is missing, wrong, or belongs to the other address: a test key to the sandbox, a live key to live. */
export class AuthenticationError extends CointillError {
  override readonly name = 'AuthenticationError';
}

/** The key may not do this, or not from here. */
export class PermissionError extends CointillError {
  override readonly name = 'PermissionError';
}

/** A value is wrong: in an option, in an argument, or in the request. */
export class InvalidRequestError extends CointillError<{ readonly field?: string | undefined }> {
  override readonly name = 'InvalidRequestError';
  /** The name of the wrong value. */
  declare readonly field?: string | undefined;
}

/** The object does not exist, or belongs to another project, mode or API. */
export class NotFoundError extends CointillError {
  override readonly name = 'NotFoundError';
}

/** The object's state does not allow this, or the first call with this `idempotencyKey` still runs. */
export class ConflictError extends CointillError {
  override readonly name = 'ConflictError';
}

/** The events that were asked for are no longer kept. */
export class GoneError extends CointillError<{ readonly oldest: number }> {
  override readonly name = 'GoneError';
  /** The oldest position that is kept. */
  declare readonly oldest: number;
}

/** The key has used up its requests. */
export class RateLimitError extends CointillError<{ readonly retryAfter: number }> {
  override readonly name = 'RateLimitError';
  /** The number of seconds after which the next request is allowed. */
  declare readonly retryAfter: number;
}

/** The service failed. */
export class ServerError extends CointillError {
  override readonly name = 'ServerError';
}

/** No answer came, only a part of it, or one that is not Cointill's. */
export class ConnectionError extends CointillError<{ readonly isPassing: boolean }> {
  override readonly name = 'ConnectionError';
  /** Whether the same request may succeed later; false for an address that is wrong. */
  declare readonly isPassing: boolean;
}

/** The sentence of a wrong option or argument. */
export function invalid(field: string, message: string): InvalidRequestError {
  return new InvalidRequestError(message, { field });
}
