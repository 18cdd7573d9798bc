import { createSlots } from '../../app/live/slots.ts';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PaymentSelector } from '../../app/payments/change-payment.ts';
import { createVersionStream, type VersionStream } from '../../app/live/version-stream.ts';
import { createReadQueue } from '../../app/live/read-queue.ts';
import type { PaymentWatch } from '../../app/live/payment-watch.ts';
import type { PaymentReader } from '../../app/payments/read-payment.ts';
import type { Payment } from '../../domain/payment.ts';
import type { Problems } from '../../domain/problems.ts';
import { countedAddress } from '../client.ts';
import {
  createEventSender,
  givenHeaders,
  HEARTBEAT_MS,
  TRY_AGAIN_SECONDS,
  type EventSender,
  type StreamLimits,
} from '../event-stream.ts';
import { clientBucket } from '../rate-limit.ts';

export interface CheckoutEventsOptions {
  readonly reader: PaymentReader;
  readonly watch: PaymentWatch;
  /** The payment named in a page's link; null if it is not valid. */
  readonly selectorOf: (publicId: string) => PaymentSelector | null;
  /**
   * A short text of one line that changes exactly when the page would look different. Called after the payment's
   * network is watched, so that a change of its confirmations is not missed.
   */
  readonly versionOf: (payment: Payment) => string | Promise<string>;
  readonly problems: Problems;
  readonly limits?: Partial<StreamLimits>;
  readonly heartbeatMs?: number;
}

/** The live updates of the payment page. */
export interface CheckoutEvents {
  /** Registers `GET /pay/:id/events`, at every address of the process. Its streams end when that server closes. */
  readonly routes: (app: FastifyInstance) => void;
  /** The number of open streams. */
  openStreams(): number;
}

interface Stream {
  readonly sender: Sender;
  readonly versions: VersionStream;
  /** Releases all resources. Called automatically when the connection closes. */
  close(): void;
}

interface EventsRequest {
  readonly Params: { readonly id: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
}

const ROUTE = {
  config: { guard: { kind: 'page' }, stream: true },
  schema: { hide: true },
  exposeHeadRoute: false,
} as const;
/** The time over which pages are told to poll. */
const ASK_SPREAD_MS = 1_000;
/** A client is an IPv4 address, or a /64 network of IPv6. */
const LIMITS: StreamLimits = { streams: 10_000, perClient: 100, unreadBytes: 65_536 };

/**
 * Server-sent events for open payment pages: `changed` with the page's version as data and id, whenever it differs from
 * the version that the page has (`?v=`, or `Last-Event-ID` when it reconnects). Each change is sent once; changes that
 * arrive while the payment is being read are sent together. Beyond the limits the answer is 503, and the page polls.
 */
export function checkoutEvents(options: CheckoutEventsOptions): CheckoutEvents {
  const limits = { ...LIMITS, ...options.limits };
  const slots = createSlots({ total: limits.streams, perClient: limits.perClient });
  const queue = createReadQueue((error) => options.problems.happened('updates of open pages', error));

  const openStream = (request: FastifyRequest, reply: FastifyReply, selector: PaymentSelector): Stream | null => {
    const release = slots.take(clientBucket(countedAddress(request)));
    if (release === null) return null;
    const sender = createSender(reply.raw, limits.unreadBytes, options.heartbeatMs ?? HEARTBEAT_MS);
    const versions = createVersionStream({
      ...options,
      selector,
      queue,
      onVersion: (version) => sender.send(version),
      onFault: (error) => options.problems.happened('updates of open pages', error, { request: request.id }),
    });
    let isOpen = true;
    const close = (): void => {
      if (!isOpen) return;
      isOpen = false;
      versions.stop();
      sender.stop();
      release();
    };
    reply.raw.once('close', close);
    return { sender, versions, close };
  };

  const routes = (app: FastifyInstance): void => {
    const senders = new Set<Sender>();
    options.watch.onDown(() => nudgeAll(senders));
    let isClosing = false;
    // Before the server waits for its connections, because a stream never ends by itself.
    app.addHook('preClose', (done) => {
      isClosing = true;
      for (const sender of senders) sender.end();
      done();
    });
    app.get<EventsRequest>('/pay/:id/events', ROUTE, async (request, reply) => {
      const selector = options.selectorOf(request.params.id);
      if (selector === null) return answer(reply, 404, 'There is no such payment.');
      const stream = isClosing ? null : openStream(request, reply, selector);
      if (stream === null) return busy(reply);
      const { sender, versions } = stream;
      const version = await versions.read().catch((error: unknown) => {
        stream.close();
        throw error;
      });
      if (version === null || isClosing) {
        stream.close();
        // A connection kept alive would keep the server from closing.
        if (isClosing) return busy(reply.header('connection', 'close'));
        return answer(reply, 404, 'There is no such payment.');
      }
      void reply.hijack();
      // The client may have left while its payment was read, or before.
      if (reply.raw.destroyed) {
        stream.close();
        return reply;
      }
      senders.add(sender);
      reply.raw.once('close', () => senders.delete(sender));
      sender.begin(givenHeaders(reply), knownVersion(request));
      sender.send(version);
      versions.start();
      return reply;
    });
  };
  return { routes, openStreams: slots.taken };
}

/**
 * Changes cannot be seen now: the pages poll, and get the last known state. Spread over time, because there may be
 * thousands.
 */
function nudgeAll(open: ReadonlySet<Sender>): void {
  const waitMs = ASK_SPREAD_MS / Math.max(1, open.size);
  [...open].forEach((sender, place) => {
    setTimeout(() => open.has(sender) && sender.nudge(), place * waitMs).unref();
  });
}

/** The version that the page shows: from the last event it received, or else as it was rendered. */
function knownVersion(request: FastifyRequest<EventsRequest>): string | null {
  const last = request.headers['last-event-id'];
  if (typeof last === 'string' && last !== '') return last;
  const { v } = request.query;
  return typeof v === 'string' ? v : null;
}

function busy(reply: FastifyReply): FastifyReply {
  void reply.header('retry-after', String(TRY_AGAIN_SECONDS));
  return answer(reply, 503, 'Too many pages are open. This page checks for updates by itself.');
}

/** Sends text, because scripts read it, not people. */
function answer(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).header('content-type', 'text/plain; charset=utf-8').send(text);
}

interface Sender extends Pick<EventSender, 'end' | 'stop'> {
  /** Starts the answer to a page that shows the version `known`. */
  begin(headers: Parameters<EventSender['begin']>[0], known: string | null): void;
  /** Sends a version that the page does not have yet. */
  send(version: string): void;
  /** Makes the page poll, whichever version it has, which remains the last one sent. */
  nudge(): void;
}

function createSender(response: ServerResponse, unreadBytes: number, heartbeatMs: number): Sender {
  const sender = createEventSender(response, { unreadBytes, heartbeatMs });
  let sentVersion: string | null = null;
  return {
    ...sender,
    begin: (headers, known) => {
      sentVersion = known;
      sender.begin(headers);
    },
    nudge: () => sender.write('event: changed\ndata: silent\n\n'),
    send: (version) => {
      if (version === sentVersion) return;
      sentVersion = version;
      sender.write(`event: changed\nid: ${version}\ndata: ${version}\n\n`);
    },
  };
}
