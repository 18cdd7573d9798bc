import type { FastifyInstance } from 'fastify';
import { meaningOf } from '../../../domain/event-type.ts';
import { decodeId, encodeId } from '../../../domain/id.ts';
import { findEvent, searchEvents, type StoredEvent } from '../../../store/webhooks/event-list.ts';
import { isoTime } from '../../../wire/time.ts';
import { readCreated } from '../../dates.ts';
import { invalid, notFound } from '../../errors.ts';
import { paymentOf, readPayment } from '../deliveries/routes.ts';
import { addRoute, type Dashboard } from '../route.ts';
import { scopeOf } from '../scope.ts';

const EVENTS = '/dashboard/api/projects/:project/:mode/event-log';
const PAGE = 50;

/** The log of all events. */
export function eventLogRoutes(app: FastifyInstance, { people: { app: core } }: Dashboard): void {
  const READ = { action: 'read_developer' } as const;
  addRoute(app, `GET ${EVENTS}`, READ, async ({ params, query, request }) => {
    const { limit = PAGE, type, created_after, created_before } = query;
    const search = {
      types: type === undefined ? null : [type],
      paymentId: readPayment(query.payment),
      ...readCreated({
        ...(created_after === undefined ? {} : { created_after }),
        ...(created_before === undefined ? {} : { created_before }),
      }),
    };
    const page = { after: query.after === undefined ? null : afterOf(query.after), limit: limit + 1 };
    const found = await searchEvents(core.db, scopeOf(request, params), search, page);
    const last = found.length > limit ? found[limit - 1] : undefined;
    return {
      data: found
        .slice(0, limit)
        .map((event) => ({ ...commonOf(event), deliveries: event.deliveries, delivered: event.delivered })),
      next: last === undefined ? null : encodeId('event', last.id),
    };
  });
  addRoute(app, `GET ${EVENTS}/:event`, READ, async ({ params, request }) => {
    const id = decodeId('event', params.event);
    const event = id === null ? null : await findEvent(core.db, scopeOf(request, params), id);
    if (event === null) throw notFound('There is no such event in this project and mode.');
    const { requestId, body } = event;
    return { ...commonOf(event), meaning: meaningOf(event.type), request_id: requestId, body };
  });
}

function commonOf(event: Pick<StoredEvent, 'id' | 'type' | 'createdAt' | 'paymentId' | 'api'>) {
  return {
    id: encodeId('event', event.id),
    type: event.type,
    created_at: isoTime(event.createdAt),
    payment: paymentOf(event),
  };
}

function afterOf(text: string): string {
  const id = decodeId('event', text);
  if (id === null) throw invalid('after', 'after must be the next of the page before, as it was given.');
  return id;
}
