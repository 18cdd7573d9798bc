import type { Database } from '../../store/database.ts';
import { listEndpoints, type WebhookEndpoint } from '../../store/webhook-endpoints.ts';
import { openSecret, SealingKeyError } from '../../webhooks/secret.ts';

/**
 * A process with another key than the rest would store secrets that nobody else can decrypt, and send nothing.
 *
 * @throws SealingKeyError if there are webhook secrets and the key decrypts none of them
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

/** Whether this key encrypted the endpoint's secret. */
export function opens(key: Uint8Array, { id, sealedSecret }: WebhookEndpoint): boolean {
  try {
    openSecret(key, sealedSecret, id);
    return true;
  } catch {
    return false;
  }
}
