import type { Trx } from '../store/database.ts';
import { findKeyCheck } from '../store/key-checks.ts';
import type { WebhookEndpoint } from '../store/webhooks/webhook-endpoints.ts';
import { openSecret, SealingKeyError, sealSecret, type SealingKeys } from '../webhooks/secret.ts';

/** Whether one of these keys encrypted the endpoint's secret. */
export function opens(keys: SealingKeys, { id, sealedSecret }: WebhookEndpoint): boolean {
  return isOpenedBy(keys, sealedSecret, id);
}

export const KEY_CHANGED =
  'The key of this database has been changed, and this process has only the former one. Restart this process with the new SECRET_KEY, or with the new secret.key in DATA_DIR.';

const KNOWN_TEXT = 'cointill';
const BOUND_TO = 'check of the sealing key';

/**
 * Makes a check by which this key is recognized later. Sealed as secrets are, so that the key is as hard to guess from
 * it.
 */
export function sealKeyCheck(key: Uint8Array): Buffer {
  return sealSecret(key, KNOWN_TEXT, BOUND_TO);
}

/** The key that made the check; null if it was none of these. */
export function keyOfCheck(keys: SealingKeys, check: Uint8Array): Uint8Array | null {
  return keys.find((key) => isOpenedBy([key], check, BOUND_TO)) ?? null;
}

/**
 * The key to seal with in this transaction. It stays the database's key until the transaction ends, because a rotation
 * waits for it. Take it before any other lock.
 *
 * @throws SealingKeyError if the key was rotated and this process does not have the new one
 */
export async function keyThatSeals(trx: Trx, keys: SealingKeys): Promise<Uint8Array> {
  const check = await findKeyCheck(trx, 'share');
  const key = check === null ? keys[0] : keyOfCheck(keys, check);
  if (key !== null) return key;
  throw new SealingKeyError(KEY_CHANGED);
}

/** Whether this process lacks the key that was needed. */
export function isKeyFault(error: unknown): boolean {
  return error instanceof SealingKeyError;
}

function isOpenedBy(keys: SealingKeys, sealed: Uint8Array, boundTo: string): boolean {
  try {
    openSecret(keys, sealed, boundTo);
    return true;
  } catch {
    return false;
  }
}
