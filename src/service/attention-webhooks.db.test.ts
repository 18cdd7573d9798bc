import { expect, it } from 'vitest';
import { attentionItems, type AttentionItem } from '../app/dashboard/attention.ts';
import { createServiceHealth } from '../app/dashboard/health.ts';
import { reopenEndpoint } from '../app/webhooks/webhook-endpoints.ts';
import { deliverAll, shop, webhookApp } from '../app/webhooks/webhooks.fixture.ts';

/** Longer than any attempt waits for the next one in its first hours. */
const NEXT_ATTEMPT_MS = 3 * 3_600_000;

it('an endpoint needs attention from its third failure until it takes a delivery, and after a 410 until it is enabled', async () => {
  const { app, register, deliverer } = await webhookApp();
  let status = 500;
  const receiver = await shop((response) => void response.writeHead(status).end());
  const { id } = await register(receiver.url);
  const sending = deliverer();
  const attention = (): Promise<readonly AttentionItem[]> => {
    const sources = { serviceHealth: createServiceHealth(app, [], 0), sweeps: () => Promise.resolve([]) };
    return attentionItems(app, { projectId: app.projectId, mode: 'test', role: 'developer' }, sources);
  };
  const attempt = async (): Promise<void> => {
    await deliverAll(app, sending);
    app.clock.advance(NEXT_ATTEMPT_MS);
  };
  await app.pay();
  // The second attempt follows the first at once.
  await attempt();
  expect(await attention()).toEqual([]);
  await attempt();
  expect(await attention()).toMatchObject([
    { kind: 'endpoint_failing', subject: id, url: receiver.url, detail: 'HTTP 500' },
  ]);
  status = 200;
  await attempt();
  expect(await attention()).toEqual([]);

  status = 410;
  await app.pay();
  await attempt();
  expect(await attention()).toMatchObject([{ kind: 'endpoint_disabled', subject: id }]);
  expect(await reopenEndpoint(app, id)).toEqual({ kind: 'done' });
  expect(await attention()).toEqual([]);
});
