import { invalid } from './errors.ts';

const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };
const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

type Bytes = Uint8Array<ArrayBuffer>;

/** Both signatures of one secret, checked in constant time by WebCrypto. */
export interface Hmac {
  /** Whether one of the signatures of `webhook-signature` is that of `prefix` and `body`. */
  isStandard(signatures: string, prefix: string, body: Bytes): Promise<boolean>;
  /** Whether this is `x-service-signature` of `body`. */
  isService(signature: string, body: Bytes): Promise<boolean>;
  sign(prefix: string, body: Bytes): Promise<{ readonly standard: string; readonly service: string }>;
}

/** The secrets. @throws InvalidRequestError that does not show them */
export function secretsOf(secret: unknown): readonly string[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  const given = secrets.filter((one): one is string => typeof one === 'string' && one !== '');
  if (given.length === 0) {
    throw invalid(
      'secret',
      'secret is missing. Give the secret of the endpoint (whsec_…), which was shown when it was created.',
    );
  }
  for (const one of given) {
    if (/\s/.test(one)) throw invalid('secret', 'secret contains a space or a line end. Remove it: secret.trim().');
    if (!SECRET.test(one) || one.length < 10) {
      throw invalid(
        'secret',
        'secret is not a secret of a webhook endpoint: whsec_ and base64. An API key does not verify webhooks.',
      );
    }
  }
  return given;
}

/**
 * `x-service-signature` is keyed with the whole text of the secret, and signs the body. Standard Webhooks is keyed with
 * the decoded bytes, and signs id, timestamp and body.
 */
export async function hmac(secret: string): Promise<Hmac> {
  const [service, standard] = await Promise.all([
    importKey(new TextEncoder().encode(secret)),
    importKey(bytesOf(atob(secret.slice('whsec_'.length)))),
  ]);
  return {
    isStandard: async (signatures, prefix, body) => {
      const signed = joined(prefix, body);
      for (const one of signatures.trim().split(/\s+/)) {
        const base64 = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(one)?.[1];
        if (base64 !== undefined && (await crypto.subtle.verify(ALGORITHM, standard, bytesOf(atob(base64)), signed)))
          return true;
      }
      return false;
    },
    isService: async (signature, body) => {
      if (!/^[0-9a-f]{64}$/.test(signature)) return false;
      const bytes = Uint8Array.from(signature.match(/../g) ?? [], (hex) => parseInt(hex, 16));
      return crypto.subtle.verify(ALGORITHM, service, bytes, body);
    },
    sign: async (prefix, body) => {
      const [inTime, alone] = await Promise.all([
        crypto.subtle.sign(ALGORITHM, standard, joined(prefix, body)),
        crypto.subtle.sign(ALGORITHM, service, body),
      ]);
      return {
        standard: `v1,${btoa(String.fromCharCode(...new Uint8Array(inTime)))}`,
        service: Array.from(new Uint8Array(alone), (byte) => byte.toString(16).padStart(2, '0')).join(''),
      };
    },
  };
}

function importKey(bytes: Bytes) {
  return crypto.subtle.importKey('raw', bytes, ALGORITHM, false, ['sign', 'verify']);
}

/** The bytes of what `atob` returns. */
function bytesOf(binary: string): Bytes {
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function joined(prefix: string, body: Bytes): Bytes {
  const head = new TextEncoder().encode(prefix);
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}
