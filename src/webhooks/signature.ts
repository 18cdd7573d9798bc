import { createHmac, timingSafeEqual } from 'node:crypto';
import { WEBHOOK_SECRET_PREFIX } from './secret.ts';

/** The headers that sign one delivery. */
export type SignatureHeaders = {
  readonly 'x-service-signature': string;
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
};

/**
 * Signs a delivery in both formats.
 *
 * `x-service-signature` follows the specification: lower-case hex of HMAC-SHA256 over the raw body, keyed with the
 * whole text of the newest secret. The `webhook-*` headers follow Standard Webhooks 1.0: one `v1` signature per valid
 * secret over `id.timestamp.body`, keyed with the decoded bytes, so that a receiver may still use the secret replaced
 * by a rotation.
 *
 * @throws TypeError if no secret is given, or one is not `whsec_` and base64; the message never shows it
 */
export function signDelivery(delivery: {
  /** Newest first. */
  readonly secrets: readonly string[];
  /** The event's id; the same for every attempt. */
  readonly id: string;
  /** The exact bytes that are sent. */
  readonly body: string | Uint8Array;
  /** Unix time of this attempt, in whole seconds. */
  readonly timestampSeconds: number;
}): SignatureHeaders {
  const { secrets, id, body, timestampSeconds } = delivery;
  const newest = secrets[0];
  if (newest === undefined) throw new TypeError('a delivery needs at least one secret to be signed with');
  if (!Number.isSafeInteger(timestampSeconds))
    throw new TypeError('timestampSeconds must be a whole number of seconds');
  const prefix = `${id}.${timestampSeconds}.`;
  return {
    'x-service-signature': serviceSignature(newest, body),
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': secrets.map((secret) => standardSignature(secret, prefix, body)).join(' '),
  };
}

/** Signs a message as BTCPay's plugins check it: with the whole text of the newest secret. */
export function signMessage(secret: string, body: string): { readonly 'BTCPay-Sig': string } {
  return { 'BTCPay-Sig': `sha256=${serviceSignature(secret, body)}` };
}

/** Whether `header` is the `x-service-signature` of `body` under `secret`; compared in constant time. */
export function verifyServiceSignature(secret: string, body: string | Uint8Array, header: string): boolean {
  const expected = Buffer.from(serviceSignature(secret, body), 'latin1');
  const given = Buffer.from(header, 'utf8');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function serviceSignature(secret: string, body: string | Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

function standardSignature(secret: string, prefix: string, body: string | Uint8Array): string {
  const key = secret.slice(WEBHOOK_SECRET_PREFIX.length);
  if (!secret.startsWith(WEBHOOK_SECRET_PREFIX) || key.length === 0) {
    throw new TypeError(`a webhook secret must be ${WEBHOOK_SECRET_PREFIX} and base64`);
  }
  return `v1,${createHmac('sha256', key, { encoding: 'base64' }).update(prefix).update(body).digest('base64')}`;
}
