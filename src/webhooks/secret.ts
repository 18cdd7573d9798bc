import { createCipheriv, createDecipheriv, randomBytes as systemRandomBytes } from 'node:crypto';
import type { RandomBytes } from '../domain/clock.ts';

/** Standard Webhooks marks a symmetric secret with this; the base64 after it is the key. */
export const WEBHOOK_SECRET_PREFIX = 'whsec_';

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** First byte of an encrypted value: AES-256-GCM, then nonce, tag, ciphertext. */
const SEAL_VERSION = 1;
const TAG_AT = 1 + NONCE_BYTES;
const TEXT_AT = TAG_AT + TAG_BYTES;

/**
 * Keys of 32 bytes: the one that is set, which opens first, and former ones that a process still opens with. The key
 * that seals is the one that the database's check names, see `keyThatSeals`.
 */
export type SealingKeys = readonly [Uint8Array, ...(readonly Uint8Array[])];

/** The file in DATA_DIR with the key, if SECRET_KEY is not set. */
export const KEY_FILE_NAME = 'secret.key';

/** There is no usable key, or it does not decrypt the stored secrets; the message names the rule and the way out. */
export class SealingKeyError extends Error {}

/** A new signing secret for an endpoint: `whsec_` and the base64 of 32 random bytes. */
export function newWebhookSecret(randomBytes: RandomBytes): string {
  return WEBHOOK_SECRET_PREFIX + Buffer.from(randomBytes(KEY_BYTES)).toString('base64');
}

/** A new secret for an endpoint of a shop's plugin, some of which take letters and digits alone. */
export function newShopSecret(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(KEY_BYTES)).toString('hex');
}

/**
 * Encrypts a secret for storage with AES-256-GCM.
 *
 * @param key 32 bytes, from `loadSealingKeys`
 * @param aad where the value belongs (the endpoint's id): it cannot be decrypted anywhere else, so stored values cannot
 * be swapped
 */
export function sealSecret(key: Uint8Array, plaintext: string, aad: string): Buffer {
  const nonce = systemRandomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(boundTo(aad));
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(SEAL_VERSION), nonce, cipher.getAuthTag(), ciphertext]);
}

/**
 * Decrypts a secret that `sealSecret` encrypted with one of these keys and the same `aad`.
 *
 * @throws Error that names the way out if the key is another one or the value was changed or moved
 */
export function openSecret(keys: SealingKeys, sealed: Uint8Array, aad: string): string {
  const value = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  if (value.length < TEXT_AT || value[0] !== SEAL_VERSION) {
    throw new Error(`The encrypted value of ${aad} is damaged or was written by a newer version of Cointill.`);
  }
  let cause: unknown;
  for (const key of keys) {
    try {
      return opened(key, value, aad);
    } catch (error) {
      cause = error;
    }
  }
  throw new SealingKeyError(
    `The encrypted value of ${aad} cannot be decrypted, because it was encrypted with a key that this process does not have. ` +
      `Restart it with the SECRET_KEY, or the ${KEY_FILE_NAME} in DATA_DIR, that the other processes have. ` +
      'cointill secret rotate names everything that no key opens.',
    { cause },
  );
}

function opened(key: Uint8Array, value: Buffer, aad: string): string {
  const decipher = createDecipheriv('aes-256-gcm', key, value.subarray(1, TAG_AT), { authTagLength: TAG_BYTES });
  decipher.setAAD(boundTo(aad));
  decipher.setAuthTag(value.subarray(TAG_AT, TEXT_AT));
  return Buffer.concat([decipher.update(value.subarray(TEXT_AT)), decipher.final()]).toString('utf8');
}

/** The version is authenticated too, so that a later format cannot be passed off as this one. */
function boundTo(aad: string): Buffer {
  return Buffer.concat([Buffer.of(SEAL_VERSION), Buffer.from(aad, 'utf8')]);
}
