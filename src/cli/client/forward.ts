import http, { STATUS_CODES, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import { signDelivery } from '../../webhooks/signature.ts';
import { codeOf, reasonOf } from '../failure.ts';
import type { LoggedEvent } from './log.ts';

/** The outcome of one request to the shop's server. */
export interface Forwarded {
  readonly isAccepted: boolean;
  /** Null without an answer. */
  readonly status: number | null;
  /** Whether a connection was made, so that the server may have read the event. */
  readonly isReached: boolean;
  /** The answer in words, such as `200 OK`, or why there is none. */
  readonly answer: string;
  /** The first line of a refusal's body. */
  readonly detail: string | null;
  readonly durationMs: number;
}

/** The service waits as long for an answer. */
const TIMEOUT_MS = 15_000;
const MAX_DETAIL = 200;
/** Errors before there is a connection, or before it is trusted. */
const UNREACHED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(?:HOST|NET)UNREACH|ETIMEDOUT|EPROTO|ERR_(?:TLS|SSL)_.*|UNABLE_TO_.*|.*CERT.*)$/;

/** Sends an event as the service would: the same bytes and headers, signed afresh. */
export function forwardEvent(
  url: string,
  secret: string,
  { id, body }: LoggedEvent,
  stopped?: AbortSignal,
): Promise<Forwarded> {
  const signed = signDelivery({ secrets: [secret], id, body, timestampSeconds: Math.floor(Date.now() / 1000) });
  return post(
    url,
    { 'content-type': 'application/json', 'user-agent': 'Cointill-Webhooks/1', ...signed },
    body,
    stopped,
  );
}

/** Posts to the shop's server. Redirects are not followed. What was stopped counts as not reached. */
export async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer,
  stopped?: AbortSignal,
): Promise<Forwarded> {
  const startedAt = performance.now();
  const since = (): number => Math.round(performance.now() - startedAt);
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await send(url, headers, body, stopped === undefined ? limit : AbortSignal.any([limit, stopped]));
    const answered = await text(response);
    const { statusCode: status = 0 } = response;
    const isAccepted = status >= 200 && status < 300;
    const answer = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
    const target = response.headers['location'];
    const detail = isAccepted ? null : target === undefined ? firstLine(answered) : redirection(target);
    return { isAccepted, status, isReached: true, answer, detail, durationMs: since() };
  } catch (error) {
    const reason = codeOf(error) ?? reasonOf(error);
    const answer = limit.aborted
      ? `no answer within ${TIMEOUT_MS / 1_000} seconds`
      : `no answer (${reason === 'ECONNRESET' ? 'the connection was closed' : reason})`;
    const isReached = limit.aborted || !(UNREACHED.test(reason) || stopped?.aborted === true);
    return { isAccepted: false, status: null, isReached, answer, detail: null, durationMs: since() };
  }
}

/** Sends the request with Node's own client: `fetch` refuses some ports that a server on this machine may have. */
function send(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { request } = url.startsWith('https:') ? https : http;
    request(url, { method: 'POST', headers, signal, agent: false }, resolve).on('error', reject).end(body);
  });
}

function redirection(target: string): string {
  return `It redirects to ${target}. Webhooks do not follow redirects.`;
}

/** The address of `--forward-to`; without a scheme it is http, as for a server on this machine. */
export function targetOf(given: string): string {
  const address = /^\d{1,5}$/.test(given) ? `localhost:${given}` : given;
  const url = URL.parse(address.includes('://') ? address : `http://${address}`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('Give an address such as localhost:3000/webhooks.');
  if (url.username !== '') throw new InvalidArgumentError('The address must not contain a user name or password.');
  return url.href;
}

function firstLine(answered: string): string | null {
  const [line = ''] = answered.trim().split('\n', 1);
  return line === '' ? null : line.slice(0, MAX_DETAIL);
}

/** An answer that `listen --fail` gives itself. */
export const FAILED_ON_PURPOSE: Forwarded = {
  isAccepted: false,
  status: 500,
  isReached: true,
  answer: '500, because of --fail',
  detail: null,
  durationMs: 0,
};
