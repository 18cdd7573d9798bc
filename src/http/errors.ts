import { withProgram } from '../config/called-as.ts';
import { OverloadedError } from '../app/batch.ts';
import { refusalTexts } from '../app/refusal-texts.ts';
import { isKeyFault } from '../app/sealing-key.ts';
import type { MailLanguage } from '../domain/notification.ts';
import type { RefusalCode } from '../domain/sentence.ts';
import type { FastifyRequest } from 'fastify';
import type { Problems } from '../domain/problems.ts';
import { StandbyError } from '../store/long-reads.ts';
import { loggedPath } from './path.ts';

/** The longest body in bytes, unless its route has another limit. */
export const BODY_LIMIT_BYTES = 65_536;

/** The APIs as requests meet them: below `/v1`, and two with their own formats of errors. */
export type HttpApi = 'v1' | 'transactions' | 'greenfield';

export type ErrorType =
  | 'authentication_error'
  | 'permission_error'
  | 'invalid_request_error'
  | 'not_found_error'
  | 'gone_error'
  | 'conflict_error'
  | 'rate_limit_error'
  | 'api_error'
  | 'service_unavailable'
  | 'https_required'
  /** Only in the dashboard: reauthenticate, then ask again. */
  | 'reauthentication_required'
  /** Only in the dashboard: a role of the person requires a second factor, which they must add first. */
  | 'second_factor_required';

const STATUS: Readonly<Record<ErrorType, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  https_required: 403,
  reauthentication_required: 403,
  second_factor_required: 403,
  not_found_error: 404,
  gone_error: 410,
  conflict_error: 409,
  rate_limit_error: 429,
  api_error: 500,
  service_unavailable: 503,
};

interface ErrorDetails {
  readonly param?: string | null;
  readonly ownShape?: boolean;
  /** Greenfield's code of the error, where it says more than the error's type. */
  readonly code?: string;
  /** The first entry of a log that is kept. */
  readonly oldest?: bigint;
  /** The message for people on a page; without it they read the English one. */
  readonly inLanguage?: (language: MailLanguage) => string;
}

/**
 * An error answer, thrown by a handler. `param` is the field to blame; the message names it, the rule and the way out.
 */
export class RequestError extends Error {
  readonly type: ErrorType;
  readonly param: string | null;
  /** Uses the Transaction API's own format although it is a 403: the project is not active. */
  readonly ownShape: boolean;
  readonly code: string | null;
  readonly oldest: number | null;
  readonly #inLanguage: ErrorDetails['inLanguage'];

  constructor(type: ErrorType, message: string, details: ErrorDetails = {}) {
    super(message);
    this.type = type;
    this.param = details.param ?? null;
    this.ownShape = details.ownShape ?? false;
    this.code = details.code ?? null;
    this.oldest = details.oldest === undefined ? null : Number(details.oldest);
    this.#inLanguage = details.inLanguage;
  }

  /** The message for people on a page, whose language is not null, or for programs. */
  messageIn(language: MailLanguage | null): string {
    return language === null ? this.message : (this.#inLanguage?.(language) ?? this.message);
  }

  get status(): number {
    return STATUS[this.type];
  }

  /** The status on an API: Greenfield has one of its own for invalid fields. */
  statusOn(api: HttpApi): number {
    return api === 'greenfield' && this.type === 'invalid_request_error' ? 422 : this.status;
  }
}

/** Greenfield's codes of errors that have none of their own. */
const GREENFIELD_CODES: Readonly<Partial<Record<ErrorType, string>>> = {
  authentication_error: 'unauthenticated',
  permission_error: 'missing-permission',
  https_required: 'https-required',
  not_found_error: 'not-found',
  rate_limit_error: 'too-many-requests',
  service_unavailable: 'unavailable',
};

/** A bad field of the request. */
export function invalid(
  param: string | null,
  message: string,
  inLanguage?: (language: MailLanguage) => string,
): RequestError {
  return new RequestError('invalid_request_error', message, {
    param,
    ...(inLanguage === undefined ? {} : { inLanguage }),
  });
}

export function notFound(message: string, code?: string): RequestError {
  return new RequestError('not_found_error', message, code === undefined ? {} : { code });
}

/**
 * The body of an error, with commands in its message named as `program`. Key errors of the Transaction API look as
 * below `/v1`; its others and all of Greenfield's have formats of their own.
 */
export function errorBody(
  error: RequestError,
  api: HttpApi,
  program = 'cointill',
  language: MailLanguage | null = null,
): object {
  if (api === 'greenfield') return greenfieldError(error, withProgram(error.message, program));
  const isKeyError =
    error.type === 'authentication_error' || error.type === 'permission_error' || error.type === 'https_required';
  const { type, param, oldest } = error;
  const message = withProgram(error.messageIn(language), program);
  if (api === 'transactions' && (!isKeyError || error.ownShape)) return { success: false, message };
  return { error: { type, message, ...(param === null ? {} : { param }), ...(oldest === null ? {} : { oldest }) } };
}

function greenfieldError({ type, param, code }: RequestError, message: string): object {
  if (type === 'invalid_request_error') return [{ path: param ?? '', message }];
  return { code: code ?? GREENFIELD_CODES[type] ?? 'generic-error', message };
}

export const WRONG_CONTENT_TYPE = 'The Content-Type must be application/json.';

/** Errors that Fastify and Node report for requests that never reached a handler, by code. */
const REQUEST_FAULTS: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: WRONG_CONTENT_TYPE,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The length of the body does not match Content-Length.',
  FST_ERR_BAD_URL: 'The path is not a valid URL path.',
  FST_ERR_MAX_PARAM_LENGTH: 'The path is too long.',
};

/**
 * PostgreSQL, socket and DNS errors after which the same request may soon succeed: a database that accepts no writes
 * (25006) is about to be replaced by one that does, a connection to a wrong schema (3F000) was closed unused, and
 * statements that a pooler lost (26000, 42P05), or whose transaction the server aborted (25P03), were not executed.
 */
const PASSING_FAULTS =
  /^(?:08|57P|53|25006|25P03|3F000|26000|40001|40P01|42P05)|^E(?:CONN(?:REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|NOENT|(?:HOST|NET)(?:UNREACH|DOWN)|NOTFOUND|AI_AGAIN)$/;

/**
 * Converts any error to the one that the client gets: never a stack trace, never SQL.
 *
 * @param bodyLimit the longest body of the request's route in bytes
 */
export function asRequestError(error: unknown, bodyLimit = BODY_LIMIT_BYTES): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof OverloadedError) return unavailable();
  // A process that was not restarted since its key changed; the log says so.
  if (isKeyFault(error)) return unavailable();
  if (error instanceof StandbyError) return new RequestError('service_unavailable', error.inShort);
  const code = codeOf(error);
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return invalid(null, `The body must be at most ${sizeText(bodyLimit)}.`);
  const known = REQUEST_FAULTS[code];
  if (known !== undefined) return invalid(null, known);
  if (PASSING_FAULTS.test(code) || isLostConnection(error)) return unavailable();
  return fault('api_error', 'server_fault');
}

function sizeText(bytes: number): string {
  return bytes % 1_024 === 0 ? `${bytes / 1_024} KiB` : `${bytes.toLocaleString('en-US')} bytes`;
}

function unavailable(): RequestError {
  return fault('service_unavailable', 'server_unavailable');
}

function fault(type: ErrorType, code: RefusalCode): RequestError {
  const inLanguage = (language: MailLanguage): string => refusalTexts(language).sentences[code];
  return new RequestError(type, inLanguage('en'), { inLanguage });
}

function codeOf(error: unknown): string {
  const code = error !== null && typeof error === 'object' && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}

/** pg reports a lost connection only in its message. */
function isLostConnection(error: unknown): boolean {
  return (
    error instanceof Error &&
    /Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered/.test(
      error.message,
    )
  );
}

/**
 * Reports that a request was answered with an internal error. The path has neither its query nor the token of a link.
 */
export function reportFault(problems: Problems, request: FastifyRequest, status: number, fault: unknown): void {
  const subject = `${request.method} ${request.routeOptions.url ?? 'of an unknown path'} answered ${status}`;
  problems.happened(subject, fault, { request: request.id, path: loggedPath(request) });
}
