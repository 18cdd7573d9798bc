import type { Database } from '../../store/database.ts';
import { listEndpoints, type WebhookEndpoint } from '../../store/webhook-endpoints.ts';
import { openSecret, SealingKeyError } from '../../webhooks/secret.ts';

/**
 * Whoever seals with another key than the rest stores secrets that nobody else can open, and who opens with it sends nothing.
 *
 * @throws SealingKeyError when there are webhook secrets and the key opens none of them
 */
export async function checkSealingKey(db: Database, key: Uint8Array): Promise<void> {
  const endpoints = await listEndpoints(db, null);
  if (endpoints.length === 0 || endpoints.some((endpoint) => opens(key, endpoint))) return;
  throw new SealingKeyError(
    'The webhook secrets in this database were sealed with another key. Use the SECRET_KEY that they were made with or, ' +
      'if none was set, unset SECRET_KEY and use the DATA_DIR that holds its secret.key. If that key is lost, give every ' +
      'endpoint a new secret: cointill webhook rotate ID --lost-key',
  );
}

/** Whether the key is the one that the endpoint's secret was sealed with. */
export function opens(key: Uint8Array, { id, sealedSecret }: WebhookEndpoint): boolean {
  try {
    openSecret(key, sealedSecret, id);
    return true;
  } catch {
    return false;
  }
}
