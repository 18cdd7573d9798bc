import type { WebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import { openSecret, sealSecret } from '../../webhooks/secret.ts';

/** Whether this key encrypted the endpoint's secret. */
export function opens(key: Uint8Array, { id, sealedSecret }: WebhookEndpoint): boolean {
  return isOpenedBy(key, sealedSecret, id);
}

const KNOWN_TEXT = 'cointill';
const BOUND_TO = 'check of the sealing key';

/**
 * Makes a check by which this key is recognized later. Sealed as secrets are, so that the key is as hard to guess from
 * it.
 */
export function sealKeyCheck(key: Uint8Array): Buffer {
  return sealSecret(key, KNOWN_TEXT, BOUND_TO);
}

/** Whether this key made the check. */
export function opensKeyCheck(key: Uint8Array, check: Uint8Array): boolean {
  return isOpenedBy(key, check, BOUND_TO);
}

function isOpenedBy(key: Uint8Array, sealed: Uint8Array, boundTo: string): boolean {
  try {
    openSecret(key, sealed, boundTo);
    return true;
  } catch {
    return false;
  }
}
