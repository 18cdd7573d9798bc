import type { EventType } from '../../domain/event-type.ts';
import { encodeId } from '../../domain/id.ts';
import type { Mode } from '../../domain/permission.ts';
import { changeEndpoint as saveEndpoint, pauseEndpoint as savePause } from '../../store/webhook-endpoints.ts';
import type { WebhookPolicy } from '../../webhooks/guard.ts';
import { differences, recordAudit } from '../audit.ts';
import type { App } from '../context.ts';
import type { Rejected } from '../rejected.ts';
import { audit, auditedEndpoint, changeReached, checkedUrl, type Within } from './webhook-endpoints.ts';

/** Lets what is due to an endpoint wait until it is enabled again. Its schedule stays: nothing counts as an attempt. */
export function pauseEndpoint(app: App, id: string, within?: Within): Promise<{ readonly kind: 'done' } | Rejected> {
  return changeReached(app, id, within, async (trx, endpoint) => {
    if (endpoint.pausedAt === null) {
      await savePause(trx, id, app.clock());
      await audit(app, trx, 'webhook.pause', endpoint);
    }
    return { kind: 'done' };
  });
}

/** Gives an endpoint another URL or other events. What waits for it goes to the new URL. */
export function changeEndpoint(
  app: App,
  policyOf: (mode: Mode) => WebhookPolicy,
  id: string,
  wanted: { readonly url: string; readonly events: readonly EventType[] },
  within?: Within,
): Promise<{ readonly kind: 'done' } | Rejected> {
  return changeReached(app, id, within, async (trx, before) => {
    const checked = checkedUrl(wanted.url, policyOf(before.mode));
    if (checked.kind !== 'ok') return checked;
    const after = await saveEndpoint(trx, id, { url: checked.url, events: wanted.events });
    await recordAudit(app, trx, {
      action: 'webhook.change',
      projectId: before.projectId,
      subject: { kind: 'webhook', id: encodeId('endpoint', id) },
      ...differences(auditedEndpoint(before), auditedEndpoint(after)),
    });
    return { kind: 'done' };
  });
}
