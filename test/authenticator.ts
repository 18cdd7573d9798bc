import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/**
 * A passkey in software, by WebAuthn (https://www.w3.org/TR/webauthn-3/): ES256, no attestation, and optional lies
 * about the origin, the challenge and the counter.
 */
export interface Authenticator {
  readonly id: string;
  /** Answers the options of a registration. */
  register(options: object, lies?: Lies): Readonly<Record<string, unknown>>;
  /** Answers the options of a request. */
  answer(options: object, lies?: Lies): Readonly<Record<string, unknown>>;
}

export interface Lies {
  readonly origin?: string;
  readonly challenge?: string;
  readonly host?: string;
  readonly counter?: number;
  readonly isVerified?: boolean;
  /** Signs with somebody else's key. */
  readonly otherKey?: true;
}

export function createAuthenticator(origin: string): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(32);
  const id = credentialId.toString('base64url');
  let counter = 0;

  const clientData = (type: string, options: object, lies: Lies): Buffer =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge: lies.challenge ?? textIn(options, 'challenge'),
        origin: lies.origin ?? origin,
        crossOrigin: false,
      }),
    );
  /** Flags: present, verified, with a credential (0x40). */
  const authData = (lies: Lies, attested: Buffer | null): Buffer => {
    const host = lies.host ?? new URL(origin).hostname;
    const flags = 0x01 | (lies.isVerified === false ? 0 : 0x04) | (attested === null ? 0 : 0x40);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(lies.counter ?? (counter += 1));
    const hash = createHash('sha256').update(host).digest();
    return Buffer.concat([hash, Buffer.of(flags), count, attested ?? Buffer.alloc(0)]);
  };
  const answerOf = (client: Buffer, more: object) => ({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response: { clientDataJSON: client.toString('base64url'), ...more },
  });
  return {
    id,
    register: (options, lies = {}) => {
      const idLength = Buffer.alloc(2);
      idLength.writeUInt16BE(credentialId.length);
      const attested = Buffer.concat([Buffer.alloc(16), idLength, credentialId, coseKey(publicKey)]);
      const data = authData(lies, attested);
      // {"fmt": "none", "attStmt": {}, "authData": bytes}
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
        Buffer.of(data.length),
        data,
      ]);
      return answerOf(clientData('webauthn.create', options, lies), {
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      });
    },
    answer: (options, lies = {}) => {
      const client = clientData('webauthn.get', options, lies);
      const data = authData(lies, null);
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
      const key = lies.otherKey === true ? other.privateKey : privateKey;
      return answerOf(client, {
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', signed, key).toString('base64url'),
      });
    },
  };
}

function textIn(options: object, name: string): string {
  const value: unknown = Reflect.get(options, name);
  if (typeof value !== 'string') throw new Error(`The options have no ${name}.`);
  return value;
}

/** COSE_Key of ES256: {1: 2, 3: -7, -1: 1, -2: x, -3: y}. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const bytes = (text: string): Buffer => Buffer.concat([Buffer.from('5820', 'hex'), Buffer.from(text, 'base64url')]);
  return Buffer.concat([Buffer.from('a5010203262001', 'hex'), Buffer.of(0x21), bytes(x), Buffer.of(0x22), bytes(y)]);
}
