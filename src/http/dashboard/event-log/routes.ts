import { decodeId, encodeId } from '../../../domain/id.ts';
import { findEvent, searchEvents, type EventFacts, type EventRow } from '../../../store/webhooks/event-list.ts';
import { isoTime } from '../../../wire/time.ts';
import { notFound } from '../../errors.ts';
import { eventPaymentView, readPayment } from '../deliveries/routes.ts';
import type { Dashboard, Routes } from '../route.ts';
import { keysetOf, listOf } from '../record-parts.ts';
import { readCreated } from '../../dates.ts';

const EVENTS = '/dashboard/api/projects/:project/:mode/event-log';

/** The log of all events. */
export function eventLogRoutes(routes: Routes, { people: { app: core } }: Dashboard): void {
  const READ = { action: 'read_developer' } as const;
  routes.add(`GET ${EVENTS}`, READ, async ({ scope, query }) => {
    const page = keysetOf(query, (text) => decodeId('event', text));
    const types = query.type === undefined ? null : [query.type];
    const search = { types, paymentId: readPayment(query.payment), ...readCreated(query) };
    const view = ({ deliveries, delivered, ...event }: EventRow) => ({ ...commonOf(event), deliveries, delivered });
    return listOf(await searchEvents(core.db, scope, search, page), page, view, ({ id }) => encodeId('event', id));
  });
  routes.add(`GET ${EVENTS}/:event`, READ, async ({ scope, params }) => {
    const id = decodeId('event', params.event);
    const event = id === null ? null : await findEvent(core.db, scope, id);
    if (event === null) throw notFound('There is no such event in this project and mode.');
    const { requestId, body } = event;
    return { ...commonOf(event), request_id: requestId, body };
  });
}

function commonOf(event: EventFacts) {
  return {
    id: encodeId('event', event.id),
    type: event.type,
    created_at: isoTime(event.createdAt),
    ...eventPaymentView(event),
  };
}
