import type { WebhookEndpoint } from '../../store/webhook-endpoints.ts';
import { openSecret } from '../../webhooks/secret.ts';

/** Whether this key encrypted the endpoint's secret. */
export function opens(key: Uint8Array, { id, sealedSecret }: WebhookEndpoint): boolean {
  try {
    openSecret(key, sealedSecret, id);
    return true;
  } catch {
    return false;
  }
}
