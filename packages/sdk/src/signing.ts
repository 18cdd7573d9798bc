import { invalid } from './errors.ts';

const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };
const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

type Bytes = Uint8Array<ArrayBuffer>;

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** The keys of both signatures of one secret. */
export interface SigningKeys {
  readonly service: Key;
  readonly standard: Key;
}

/** The secrets. @throws InvalidRequestError that does not show them */
export function secretsOf(secret: unknown): readonly string[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  const given = secrets.filter((one): one is string => typeof one === 'string' && one !== '');
  if (given.length === 0) {
    throw invalid('secret', 'secret is missing. Give the secret of the endpoint (whsec_…).');
  }
  for (const one of given) {
    if (/\s/.test(one)) throw invalid('secret', 'secret contains a space or a line end. Remove it: secret.trim().');
    if (!SECRET.test(one) || one.length < 10) {
      throw invalid(
        'secret',
        'secret is not that of an endpoint: whsec_ and base64. An API key does not verify webhooks.',
      );
    }
  }
  return given;
}

/**
 * `x-service-signature` is keyed with the whole text of the secret, and signs the body. Standard Webhooks is keyed with
 * the decoded bytes, and signs id, timestamp and body.
 */
export async function signingKeys(secret: string): Promise<SigningKeys> {
  const [service, standard] = await Promise.all([
    importKey(new TextEncoder().encode(secret)),
    importKey(bytesOf(secret.slice('whsec_'.length))),
  ]);
  return { service, standard };
}

function importKey(bytes: Bytes): Promise<Key> {
  return crypto.subtle.importKey('raw', bytes, ALGORITHM, false, ['sign']);
}

/** Whether one of the signatures of `webhook-signature` is right. */
export async function isStandard(keys: SigningKeys, signatures: string, prefix: string, body: Bytes): Promise<boolean> {
  const right = new Uint8Array(await crypto.subtle.sign('HMAC', keys.standard, joined(prefix, body)));
  const given = signatures.matchAll(/(?<!\S)v1,([A-Za-z0-9+/]{43}=)(?!\S)/g);
  return Array.from(given, ([, base64 = '']) => isSame(bytesOf(base64), right)).includes(true);
}

/** Whether this is `x-service-signature` of `body`. */
export async function isService(keys: SigningKeys, signature: string, body: Bytes): Promise<boolean> {
  if (!/^[0-9a-f]{64}$/.test(signature)) return false;
  const bytes = Uint8Array.from(signature.match(/../g) ?? [], (hex) => parseInt(hex, 16));
  return isSame(bytes, new Uint8Array(await crypto.subtle.sign('HMAC', keys.service, body)));
}

/** Compares in a time that does not show where they differ. */
function isSame(a: Bytes, b: Bytes): boolean {
  return a.length === b.length && a.reduce((difference, byte, index) => difference | (byte ^ (b[index] ?? 0)), 0) === 0;
}

function bytesOf(base64: string): Bytes {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** The bytes that Standard Webhooks signs. */
export function joined(prefix: string, body: Bytes): Bytes {
  const head = new TextEncoder().encode(prefix);
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}
