import { resendEvent, type ResentDelivery } from '../../../app/webhooks/resend-event.ts';
import { parseLogCursor } from '../../../domain/event-log.ts';
import { decodeId, deliveryId, encodeId } from '../../../domain/id.ts';
import { isMessageType } from '../../../domain/shop-message.ts';
import {
  findEvent,
  listLog,
  type EventFacts,
  type ListedEvent,
  type ListedGap,
} from '../../../store/webhooks/event-list.ts';
import { logEnds, positionOf } from '../../../store/webhooks/event-log.ts';
import { listMessages, withMessagesBetween, type ListedMessage } from '../../../store/webhooks/message-list.ts';
import { isoTime } from '../../../wire/time.ts';
import { readCreated } from '../../dates.ts';
import { refusalError, sentenceError } from '../../page-sentences.ts';
import type { AnswerOf } from '../contract.ts';
import { eventPaymentView, readPayment } from '../deliveries/routes.ts';
import { keysetOf, listOf } from '../record-parts.ts';
import type { Dashboard, Routes } from '../route.ts';
import { formRequest, notAgain } from '../scope.ts';
import { endpointId } from '../webhooks/routes.ts';
import type { EventRowView, GapRowView } from './contract.ts';

const EVENTS = '/dashboard/api/projects/:project/:mode/event-log';
const RESEND = `POST ${EVENTS}/:event/resend` as const;

/** The log of all events, newest first, and sending one again. */
export function eventLogRoutes(routes: Routes, { people: { app: core } }: Dashboard): void {
  const READ = { action: 'read_developer' } as const;
  routes.add(`GET ${EVENTS}`, READ, async ({ scope, query }) => {
    const { type = null } = query;
    const search = { type, paymentId: readPayment(query.payment), createdFrom: readCreated(query).createdFrom };
    const { head } = await logEnds(core.db, scope);
    if (type !== null && isMessageType(type)) {
      const page = keysetOf(query, (text) => decodeId('event', text));
      const bounds = { below: page.after, above: null, limit: page.limit };
      const found = await listMessages(core.db, scope, [type], search, bounds);
      return { ...listOf(found, page, rowView, ({ id }) => encodeId('event', id)), head: Number(head) };
    }
    const { after: below, limit } = keysetOf(query, readPosition);
    const { entries, next } = await listLog(core.db, scope, search, { below, limit: limit - 1 });
    const all = await withMessagesBetween(core.db, scope, search, { entries, below, isLast: next === null });
    return { data: all.map(rowView), next: next === null ? null : String(next), head: Number(head) };
  });
  routes.add(`GET ${EVENTS}/:event`, READ, async ({ scope, params }) => {
    const id = eventId(params.event);
    const event = await findEvent(core.db, scope, id);
    if (event === null) throw noEvent();
    const position = await positionOf(core.db, scope, id);
    const { requestId, body } = event;
    return {
      ...commonOf(event),
      position: typeof position === 'bigint' ? Number(position) : null,
      request_id: requestId,
      body,
    };
  });
  routes.add(RESEND, { action: 'manage_webhooks' }, async ({ scope, params, body, own, request }) => {
    const outcome = await resendEvent(own, {
      scope,
      eventId: eventId(params.event),
      endpointId: body.endpoint === null ? null : endpointId(body.endpoint),
      withMessages: true,
      idempotency: formRequest(request, scope, body.request),
      present: resentBody,
    });
    switch (outcome.kind) {
      case 'done':
      case 'replayed':
        return JSON.parse(outcome.body) as AnswerOf<typeof RESEND>;
      case 'rejected':
        throw refusalError(outcome);
      case 'key_reused':
      case 'still_running':
        throw notAgain(outcome.kind);
    }
  });
}

function readPosition(text: string): bigint | null {
  const cursor = parseLogCursor(text);
  return cursor?.kind === 'position' ? cursor.position : null;
}

function eventId(text: string): string {
  const id = decodeId('event', text);
  if (id === null) throw noEvent();
  return id;
}

function noEvent() {
  return sentenceError('not_found_error', 'unknown_event');
}

function resentBody(deliveries: readonly ResentDelivery[]): string {
  const answer: AnswerOf<typeof RESEND> = { deliveries: deliveries.map(({ id }) => deliveryId(id)) };
  return JSON.stringify(answer);
}

function rowView(entry: ListedEvent | ListedGap | ListedMessage): EventRowView | GapRowView {
  if ('reason' in entry) {
    const position = Number(entry.position);
    return { id: `gap_${position}`, position, gap: { from: Number(entry.from), reason: entry.reason } };
  }
  const { deliveries, delivered } = entry;
  const position = 'position' in entry ? Number(entry.position) : null;
  return { ...commonOf(entry), position, deliveries, delivered };
}

function commonOf(event: EventFacts) {
  return {
    id: encodeId('event', event.id),
    type: event.type,
    created_at: isoTime(event.createdAt),
    ...eventPaymentView(event),
  };
}
