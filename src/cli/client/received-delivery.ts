import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { InvalidArgumentError } from 'commander';
import { signDelivery, verifyServiceSignature } from '../../webhooks/signature.ts';
import { fields } from '../../wire/fields.ts';

/**
 * `unchecked`: no secret is known. `stale`: correct, but its time is more than five minutes off, as in a replayed
 * request.
 */
export type SignatureCheck = 'verified' | 'wrong' | 'missing' | 'stale' | 'unchecked';

/** Parses `--secret`; the message does not repeat it. */
export function secretOf(text: string): string {
  const base64 = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(text.trim())?.[1];
  if (base64 !== undefined) return text.trim();
  throw new InvalidArgumentError('A secret is whsec_ followed by base64 characters.');
}

/** A delivery as received, and whether its signatures are correct. */
export interface ReceivedDelivery {
  readonly serviceSignature: SignatureCheck;
  readonly standardSignature: SignatureCheck;
  readonly event: ReceivedEvent;
}

/** The content of the body; null if it is missing. Numbers are kept as they were written. */
interface ReceivedEvent {
  readonly id: string | null;
  readonly type: string | null;
  readonly sequence: string | null;
  readonly object: string | null;
  readonly objectId: string | null;
  readonly status: string | null;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly cryptoAmount: string | null;
  readonly cryptoCurrency: string | null;
  readonly orderId: string | null;
}

/** How far a timestamp may be off, as Standard Webhooks recommends. */
const TOLERANCE_SECONDS = 5 * 60;

/** Checks and parses a delivery. `secret` null: the signatures stay unchecked. `nowSeconds` is Unix time. */
export function readDelivery(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string | null,
  nowSeconds: number,
): ReceivedDelivery {
  return {
    serviceSignature: checkService(headers, body, secret),
    standardSignature: checkStandard(headers, body, secret, nowSeconds),
    event: readEvent(body.toString('utf8')),
  };
}

function checkService(headers: IncomingHttpHeaders, body: Buffer, secret: string | null): SignatureCheck {
  const given = one(headers['x-service-signature']);
  if (given === null) return 'missing';
  if (secret === null) return 'unchecked';
  return verifyServiceSignature(secret, body, given) ? 'verified' : 'wrong';
}

/** Standard Webhooks 1.0: any of the signatures may match, because during a rotation two secrets sign. */
function checkStandard(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string | null,
  nowSeconds: number,
): SignatureCheck {
  const id = one(headers['webhook-id']);
  const timestamp = one(headers['webhook-timestamp']);
  const signatures = one(headers['webhook-signature']);
  if (id === null || timestamp === null || signatures === null) return 'missing';
  if (secret === null) return 'unchecked';
  if (!/^\d{1,15}$/.test(timestamp)) return 'wrong';
  const timestampSeconds = Number(timestamp);
  const expected = signDelivery({ secrets: [secret], id, body, timestampSeconds })['webhook-signature'];
  if (!signatures.split(' ').some((signature) => isSame(signature, expected))) return 'wrong';
  return Math.abs(nowSeconds - timestampSeconds) > TOLERANCE_SECONDS ? 'stale' : 'verified';
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function one(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && header !== '' ? header : null;
}

function readEvent(body: string): ReceivedEvent {
  const event = parseObject(body) ?? {};
  const data = objectIn(event, 'data') ?? {};
  return {
    id: textIn(event, 'id'),
    type: textIn(event, 'type'),
    sequence: textIn(event, 'sequence'),
    object: textIn(data, 'object'),
    objectId: textIn(data, 'id'),
    status: textIn(data, 'status'),
    amount: textIn(data, 'amount'),
    currency: textIn(data, 'currency'),
    cryptoAmount: textIn(data, 'crypto_amount'),
    cryptoCurrency: textIn(data, 'crypto_currency'),
    orderId: textIn(objectIn(data, 'metadata') ?? {}, 'order_id'),
  };
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Parses every number as its text: as floats, small amounts would be shown with an exponent. */
function parseObject(text: string): JsonObject | null {
  const keepNumbers = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' ? (context?.source ?? String(value)) : value;
  try {
    const parsed: unknown = JSON.parse(text, keepNumbers);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectIn(object: JsonObject, key: string): JsonObject | null {
  const value = object[key];
  return isObject(value) ? value : null;
}

function textIn(object: JsonObject, key: string): string | null {
  const value = object[key];
  return typeof value === 'string' ? value : null;
}

/** One delivery as `webhook listen --json` prints it. */
export function deliveryRecord(delivery: ReceivedDelivery, attempt: number, answeredStatus: number): object {
  const { event } = delivery;
  return {
    type: event.type,
    id: event.id,
    sequence: event.sequence === null ? null : Number(event.sequence),
    attempt,
    object: event.object,
    object_id: event.objectId,
    status: event.status,
    amount: event.amount,
    currency: event.currency,
    crypto_amount: event.cryptoAmount,
    crypto_currency: event.cryptoCurrency,
    order_id: event.orderId,
    service_signature: delivery.serviceSignature,
    standard_signature: delivery.standardSignature,
    answered_status: answeredStatus,
  };
}

const CHECKS: Readonly<Record<SignatureCheck, string>> = {
  verified: 'verified',
  wrong: 'WRONG: this secret and this body result in a different signature',
  missing: 'MISSING',
  stale: 'STALE: correct, but its timestamp is more than 5 minutes off',
  unchecked: 'not checked (give --secret or --project)',
};

/** One delivery as a block of lines for people. `attempt` counts how often this event arrived. */
export function deliveryLines(delivery: ReceivedDelivery, attempt: number, answeredStatus: number): readonly string[] {
  const { event } = delivery;
  const object = event.object ?? 'order';
  return [
    headline(event, attempt),
    ...fields([
      ['  Event', event.id],
      [`  ${object.charAt(0).toUpperCase()}${object.slice(1)}`, event.objectId],
      ['  Order id', event.orderId],
      ['  Status', event.status],
      ['  Amount', amounts(event)],
      ['  x-service-signature', CHECKS[delivery.serviceSignature]],
      ['  webhook-signature', CHECKS[delivery.standardSignature]],
      ['  Answered', String(answeredStatus)],
    ]),
    '',
  ];
}

function headline(event: ReceivedEvent, attempt: number): string {
  if (event.type === null) return 'A request that is not a Cointill event';
  const sequence = event.sequence === null ? '' : `, event ${event.sequence} of its payment`;
  return `${event.type}${sequence}${attempt === 1 ? '' : `, delivery ${attempt}`}`;
}

function amounts(event: ReceivedEvent): string | null {
  const fiat = event.amount === null ? [] : [`${event.amount} ${event.currency ?? ''}`];
  const crypto = event.cryptoAmount === null ? [] : [`${event.cryptoAmount} ${event.cryptoCurrency ?? ''}`];
  return [...fiat, ...crypto].join(' = ') || null;
}
