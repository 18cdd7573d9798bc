import type { WebhookDelivery } from '../app/webhooks/deliver-due.ts';
import type { SealingKeys } from '../webhooks/secret.ts';
import { createWebhookSender, type WebhookSender } from '../webhooks/send.ts';
import type { Cointill } from './core.ts';

/** The webhooks that are sent for a request, while the workers send all others. */
export interface WebhookSending {
  /** The start checked a key that exists; a key that is missing is made at its first use, if ever. */
  readonly sealingKeys: () => Promise<SealingKeys>;
  readonly sender: () => WebhookSender;
  readonly delivery: () => Promise<WebhookDelivery>;
  close(): Promise<void>;
}

/** Opens nothing until the first use. */
export function createWebhookSending(core: Cointill): WebhookSending {
  let key: Promise<SealingKeys> | null = null;
  let opened: WebhookSender | null = null;
  const sealingKeys = (): Promise<SealingKeys> =>
    (key ??= core.sealingKeys().catch((error: unknown) => {
      key = null;
      throw error;
    }));
  const sender = (): WebhookSender =>
    (opened ??= createWebhookSender({ policyOf: core.policyOf, now: () => performance.now() }));
  return {
    sealingKeys,
    sender,
    delivery: async () => ({ sender: sender(), sealingKeys: await sealingKeys() }),
    close: async () => opened?.close(0),
  };
}
