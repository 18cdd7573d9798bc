import { PAYMENT_ID_FORMS, parsePaymentId } from '../../domain/payment-kind.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { forRequest } from '../../app/context.ts';
import type { Access } from '../../app/projects/access.ts';
import type { EventReader } from '../../app/live/read-events.ts';
import { resendEvent, type ResentDelivery } from '../../app/webhooks/resend-event.ts';
import { parseLogCursor } from '../../domain/event-log.ts';
import { EVENT_TYPES, isEventType, type EventType } from '../../domain/event-type.ts';
import { decodeId, deliveryId, encodeId } from '../../domain/id.ts';
import type { Operation, ProjectMode } from '../../domain/permission.ts';
import { isMessageType } from '../../domain/shop-message.ts';
import { deliveriesOfEvent } from '../../store/webhooks/delivery-list.ts';
import { findEvent } from '../../store/webhooks/event-list.ts';
import { logEnds, positionOf, type LogPage } from '../../store/webhooks/event-log.ts';
import { isoTimeOrNull } from '../../wire/time.ts';
import { keyOf, sendDone, type Api } from '../api.ts';
import { authoriseAgain } from '../auth.ts';
import { clientAddress } from '../client.ts';
import { invalid, RequestError } from '../errors.ts';
import { idempotencyHeader, orderErrors } from '../fields.ts';
import { idempotencyOf, sendJson } from '../idempotency-key.ts';
import { refusalError, sentenceError } from '../page-sentences.ts';
import {
  eventDetailShape,
  eventPageShape,
  listEventsQuery,
  resendBody,
  resentShape,
  type ListEventsQuery,
  type ResendBody,
} from './schema.ts';

const tags = ['Events'];
const guard = (operation: Operation) => ({ guard: { kind: 'api', api: 'v1', operation } as const });
const idParams = Type.Object({ id: Type.String({ description: 'The id of the event (evt_…).' }) });
/** How long a caller rests before it waits again, if too many calls wait. */
const RETRY_SECONDS = 5;
const USUAL_LIMIT = 100;

/** The log of a project's events, of payments of both APIs, below `/v1/events`. */
export function eventRoutes(api: Api, events: EventReader, access: Access): (app: FastifyInstance) => void {
  return (app) => {
    listRoute(app, api, events, access);
    oneRoute(app, api);
    resendRoute(app, api);
  };
}

const scopeOf = (request: FastifyRequest): ProjectMode => {
  const { project, mode } = keyOf(request);
  return { projectId: project.id, mode };
};

function listRoute(app: FastifyInstance, { app: core }: Api, events: EventReader, access: Access): void {
  const schema = {
    tags,
    operationId: 'listEvents',
    summary: 'List events, oldest first',
    description:
      'Reads the events of the key’s own project and mode in the order of their positions, which none leaves out. Keep `next` and send it as `after`: you then read each event once, with or without webhooks. Requires a key with Full Access, Read Only or the events scope.',
    querystring: listEventsQuery,
    response: { 200: eventPageShape, 410: orderErrors[400], ...orderErrors },
  };
  app.get<{ Querystring: ListEventsQuery }>(
    '/v1/events',
    { config: { ...guard('read_events'), stream: true }, schema },
    async (request, reply) => {
      const scope = scopeOf(request);
      void reply.header('x-project-id', scope.projectId);
      const { query } = request;
      const types = query.types === undefined ? null : readTypes(query.types);
      const paymentId = query.payment === undefined ? null : readPaymentId(query.payment);
      const read = async () => {
        const after = await readAfter(core, scope, query.after ?? 'start');
        // An event that is about to get its position: its answer comes with the next call.
        if (after === null) return { entries: [], next: query.after ?? '', ...(await logEnds(core.db, scope)) };
        const waiting = {
          ms: (query.wait ?? 0) * 1_000,
          key: keyOf(request).id,
          onLeave: (leave: () => void) => {
            // Who left while the cursor was read is not told of again.
            if (request.raw.socket.destroyed) leave();
            else reply.raw.once('close', leave);
          },
        };
        const limit = query.limit ?? USUAL_LIMIT;
        return events.read(scope, { after, limit, types, paymentId }, waiting);
      };
      let page = await read();
      if ((query.wait ?? 0) > 0) {
        const { authorization: header } = request.headers;
        await authoriseAgain(access, { header, address: clientAddress(request) }, 'read_events');
      }
      // Entries were deleted meanwhile: a cursor before them is refused now, and start begins behind them.
      if (page === 'deleted') page = await read();
      if (page === 'deleted') throw new RequestError('service_unavailable', 'Entries are being deleted. Try again.');
      if (page !== 'too_many') return sendPage(reply, page);
      void reply.header('retry-after', String(RETRY_SECONDS));
      throw new RequestError(
        'rate_limit_error',
        'Too many calls are waiting for events. A key may have 20 of them at a time. Leave out wait, or call again later.',
      );
    },
  );
}

/**
 * The position after which a call reads; null if the event that it names has none yet.
 *
 * @throws RequestError if the cursor is none of this log, or older than what is kept
 */
async function readAfter({ db }: Api['app'], scope: ProjectMode, text: string): Promise<bigint | null> {
  const cursor = parseLogCursor(text);
  if (cursor === null) {
    throw invalid('after', 'after must be a position such as 41, the id of an event (evt_…), start or now.');
  }
  const { head, oldest } = await logEnds(db, scope);
  if (cursor.kind === 'start') return oldest - 1n;
  if (cursor.kind === 'now') return head;
  if (cursor.kind === 'event') {
    const id = decodeId('event', cursor.id);
    const position = id === null ? null : await positionOf(db, scope, id);
    if (position === null)
      throw invalid(
        'after',
        'after names an event that is not in the log of this project and mode. Begin with a position, start or now.',
      );
    return position === 'unnumbered' ? null : position;
  }
  const { position } = cursor;
  if (position > head) {
    throw invalid(
      'after',
      `after is ${position}, but the log of this project and mode ends at ${head}. Start again after ${head}.`,
    );
  }
  if (position < oldest - 1n) {
    throw new RequestError(
      'gone_error',
      `The events after ${position} were deleted, because the service keeps events for a limited time only. The oldest one that is kept is ${oldest}. Read your payments again, then go on with after=start.`,
      { param: 'after', oldest },
    );
  }
  return position;
}

function readTypes(text: string): readonly EventType[] {
  return text.split(',').map((part) => {
    const type = part.trim();
    if (isEventType(type)) return type;
    throw invalid('types', `types must be event types separated by commas. These exist: ${EVENT_TYPES.join(', ')}.`);
  });
}

function readPaymentId(text: string): string {
  const id = parsePaymentId(text)?.id;
  if (id === undefined) throw invalid('payment', `payment must be the id of a payment: ${PAYMENT_ID_FORMS}.`);
  return id;
}

/** Writes the stored bytes of each event as they are. */
function sendPage(
  reply: FastifyReply,
  { entries, next, head, oldest }: Omit<LogPage, 'next'> & { readonly next: bigint | string },
): FastifyReply {
  const data = entries.map((entry) => {
    if ('event' in entry) return `{"position":${entry.position},"event":${entry.event}}`;
    const { position, gap } = entry;
    return `{"position":${position},"gap":{"from":${gap.from},"to":${position},"reason":"${gap.reason}"}}`;
  });
  return sendJson(
    reply,
    `{"data":[${data.join(',')}],"next":${JSON.stringify(String(next))},"head":${head},"oldest":${oldest}}`,
  );
}

function oneRoute(app: FastifyInstance, { app: core }: Api): void {
  const schema = {
    tags,
    operationId: 'getEvent',
    summary: 'Get an event and its deliveries',
    description: 'Requires a key with Full Access, Read Only or the events scope.',
    params: idParams,
    response: { 200: eventDetailShape, ...orderErrors },
  };
  const options = { config: guard('read_events'), schema };
  app.get<{ Params: { id: string } }>('/v1/events/:id', options, async (request, reply) => {
    const scope = scopeOf(request);
    const id = eventIdOf(request);
    const event = await findEvent(core.db, scope, id);
    if (event === null || isMessageType(event.type)) throw sentenceError('not_found_error', 'unknown_event');
    const position = await positionOf(core.db, scope, id);
    const deliveries = (await deliveriesOfEvent(core.db, id)).map((one) => ({
      id: deliveryId(one.id),
      endpoint: encodeId('endpoint', one.endpointId),
      url: one.url,
      state: one.state,
      attempts: one.attempts,
      next_attempt_at: isoTimeOrNull(one.nextAttemptAt),
      last_status: one.lastStatus,
    }));
    const shown = typeof position === 'bigint' ? position : null;
    return sendJson(reply, `{"position":${shown},"event":${event.body},"deliveries":${JSON.stringify(deliveries)}}`);
  });
}

function resendRoute(app: FastifyInstance, { app: core }: Api): void {
  const schema = {
    tags,
    operationId: 'resendEvent',
    summary: 'Send an event again',
    description:
      'Sends the event to one webhook endpoint, or to every endpoint that is on, whatever types they are registered for. Each is a new delivery with the usual schedule of retries. Requires a key with Full Access, Write Only or the events scope.',
    headers: idempotencyHeader,
    params: idParams,
    body: resendBody,
    response: { 200: resentShape, ...orderErrors },
  };
  app.post<{ Params: { id: string }; Body: ResendBody }>(
    '/v1/events/:id/resend',
    { config: guard('resend_event'), schema },
    async (request, reply) => {
      const { endpoint } = request.body;
      const endpointId = endpoint === undefined ? null : decodeId('endpoint', endpoint);
      if (endpoint !== undefined && endpointId === null) throw sentenceError('not_found_error', 'no_endpoint');
      const outcome = await resendEvent(forRequest(core, request.id), {
        scope: scopeOf(request),
        eventId: eventIdOf(request),
        endpointId,
        withMessages: false,
        idempotency: idempotencyOf(request, keyOf(request)),
        present: resentBody,
      });
      if (outcome.kind === 'rejected') throw refusalError(outcome);
      return sendDone(reply, outcome);
    },
  );
}

function resentBody(deliveries: readonly ResentDelivery[]): string {
  const data = deliveries.map((one) => ({ id: deliveryId(one.id), endpoint: encodeId('endpoint', one.endpointId) }));
  return JSON.stringify({ deliveries: data });
}

function eventIdOf(request: FastifyRequest<{ Params: { id: string } }>): string {
  const id = decodeId('event', request.params.id);
  if (id === null) throw sentenceError('not_found_error', 'unknown_event');
  return id;
}
