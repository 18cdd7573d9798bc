import { encodeId } from '../../domain/id.ts';
import type { Mode, ProjectMode } from '../../domain/permission.ts';
import type { StoredEventType } from '../../domain/shop-message.ts';
import { changeEndpoint as saveEndpoint, pauseEndpoint as savePause } from '../../store/webhooks/webhook-endpoints.ts';
import type { WebhookPolicy } from '../../webhooks/guard.ts';
import { differences, recordAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { rejected, type Rejected } from '../rejected.ts';
import { audit, auditedEndpoint, changeReached, checkedUrl, typesRefusal } from './webhook-endpoints.ts';

/** Holds an endpoint's due deliveries until it is enabled again. Their schedule stays: nothing counts as an attempt. */
export function pauseEndpoint(
  app: App,
  id: string,
  within?: ProjectMode,
): Promise<{ readonly kind: 'done' } | Rejected> {
  return changeReached(app, id, within, async (trx, endpoint) => {
    if (endpoint.pausedAt === null) {
      await savePause(trx, id, app.clock());
      await audit(app, trx, 'webhook.pause', endpoint);
    }
    return { kind: 'done' };
  });
}

interface Subscription {
  readonly url: string;
  readonly events: readonly StoredEventType[];
}

/**
 * Gives an endpoint another URL or other events. Waiting deliveries go to the new URL. Refused if the endpoint differs
 * from the one `shown` to the person, so that two people do not undo each other's changes unnoticed.
 */
export function changeEndpoint(
  app: App,
  policyOf: (mode: Mode) => WebhookPolicy,
  id: string,
  wanted: Subscription,
  { within, shown }: { readonly within?: ProjectMode; readonly shown?: Subscription | undefined } = {},
): Promise<{ readonly kind: 'done' } | Rejected> {
  return changeReached(app, id, within, async (trx, before) => {
    if (shown !== undefined && !isSame(shown, before)) {
      return rejected('endpoint_changed', { url: before.url, events: before.events.join(', ') });
    }
    const refusal = typesRefusal(wanted.events, before.format);
    if (refusal !== null) return refusal;
    const checked = checkedUrl(wanted.url, policyOf(before.mode));
    if (checked.kind !== 'ok') return checked;
    const after = await saveEndpoint(trx, id, { url: checked.url, events: wanted.events });
    await recordAudit(app, trx, {
      action: 'webhook.change',
      projectId: before.projectId,
      subject: { kind: 'webhook', id: encodeId('endpoint', id) },
      ...differences(
        { ...auditedEndpoint(before), url_query: 'as it was' },
        { ...auditedEndpoint(after), url_query: queryOf(before) === queryOf(after) ? 'as it was' : 'changed' },
      ),
    });
    return { kind: 'done' };
  });
}

function queryOf({ url }: Subscription): string {
  return new URL(url).search;
}

function isSame(one: Subscription, other: Subscription): boolean {
  return one.url === other.url && one.events.toSorted().join() === other.events.toSorted().join();
}
