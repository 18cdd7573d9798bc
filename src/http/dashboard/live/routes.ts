import { createSlots } from '../../../app/live/slots.ts';
import type { FastifyReply } from 'fastify';
import type { ProjectChange } from '../../../app/live/project-watch.ts';
import { roleOfOpenSession } from '../../../app/people/open-session.ts';
import { publicPaymentId } from '../../../domain/payment-kind.ts';
import { RequestError } from '../../errors.ts';
import {
  createEventSender,
  givenHeaders,
  HEARTBEAT_MS,
  TRY_AGAIN_SECONDS,
  type StreamLimits,
} from '../../event-stream.ts';
import { CONTRACT } from '../contract.ts';
import type { Dashboard, Routes } from '../route.ts';
import { scopeIn, signedInOf } from '../scope.ts';
import type { LiveMessage } from './contract.ts';

/** `perClient` counts by person. */
const LIMITS: StreamLimits = { streams: 2_000, perClient: 30, unreadBytes: 65_536 };
const URL = '/dashboard/api/projects/:project/:mode/events';
const ROUTE = {
  config: { guard: { kind: 'session', action: 'read_payments' }, stream: true },
  schema: { hide: true, params: CONTRACT[`GET ${URL}`].params },
  exposeHeadRoute: false,
} as const;

interface OpenStream {
  readonly personId: string;
  /** Checks whether the stream may continue. */
  check(): void;
  end(): void;
}

/**
 * One stream of server-sent events for each open tab. Session and role are checked before each message and at each
 * heartbeat. Once they differ from those at the beginning, the stream ends with the message `session`.
 */
export function liveRoutes({ app }: Routes, dashboard: Dashboard): void {
  const { live } = dashboard;
  const limits = { ...LIMITS, ...live.limits };
  const slots = createSlots({ total: limits.streams, perClient: limits.perClient });
  const streams = new Set<OpenStream>();
  let isClosing = false;
  live.notifications.on('sessions', ([personId]) => {
    for (const stream of streams) if (stream.personId === personId) stream.check();
  });
  // On closing, the server waits for its connections, and streams do not end by themselves.
  app.addHook('preClose', (done) => {
    isClosing = true;
    for (const stream of streams) stream.end();
    done();
  });
  app.addHook('onClose', (_server, done) => {
    live.watch.stop();
    done();
  });
  app.get<{ Params: { project: string; mode: string } }>(URL, ROUTE, (request, reply) => {
    const scope = scopeIn(request, request.params);
    const signedIn = signedInOf(request);
    const personId = signedIn.person.id;
    const release = isClosing ? null : slots.take(personId);
    if (release === null) throw busy(reply);
    const sender = createEventSender(reply.raw, {
      unreadBytes: limits.unreadBytes,
      heartbeatMs: live.heartbeatMs ?? HEARTBEAT_MS,
      onHeartbeat: () => checked.check(),
    });
    const send = (message: LiveMessage): void => sender.write(eventOf(message));
    const checked = createCheckedSender({
      isAllowed: async () =>
        (await roleOfOpenSession(dashboard.people.app, signedIn, scope.projectId, 'read_payments')) === scope.role,
      send,
      refuse: () => sender.endWith(eventOf({ kind: 'session' })),
      onFault: (error) => live.problems.happened('updates of the dashboard', error, { request: request.id }),
    });
    const stream: OpenStream = { personId, check: () => checked.check(), end: () => sender.end() };
    const unwatch = live.watch.watch(scope, (changes) => checked.send(changes.map(messageOf)));
    streams.add(stream);
    reply.raw.once('close', () => {
      streams.delete(stream);
      unwatch();
      checked.stop();
      sender.stop();
      release();
    });
    void reply.hijack();
    sender.begin(givenHeaders(reply));
    // The id makes a reconnecting browser send Last-Event-ID, which means that it may have missed messages.
    sender.write(`id: seen\n${eventOf({ kind: 'version', version: dashboard.version })}`);
    if (request.headers['last-event-id'] !== undefined) send({ kind: 'anything' });
    // The session may have ended between the guard and the watch.
    checked.check();
    return reply;
  });
}

function busy(reply: FastifyReply): RequestError {
  void reply.header('retry-after', String(TRY_AGAIN_SECONDS));
  return new RequestError('service_unavailable', 'Too many dashboard tabs are open. Close some of them.');
}

function eventOf(message: LiveMessage): string {
  return `data: ${JSON.stringify(message)}\n\n`;
}

function messageOf(change: ProjectChange): LiveMessage {
  return change.kind === 'payment' || change.kind === 'payment_created'
    ? { kind: change.kind, id: publicPaymentId(change) }
    : { ...change };
}

interface CheckedSender {
  /** Sends messages after checking that the stream may continue. */
  send(messages: readonly LiveMessage[]): void;
  check(): void;
  stop(): void;
}

/** More waiting messages than this are replaced by `anything`. */
const MAX_PENDING = 500;

/** Runs one check at a time; messages that arrive meanwhile wait for the next one. */
function createCheckedSender(parts: {
  readonly isAllowed: () => Promise<boolean>;
  readonly send: (message: LiveMessage) => void;
  readonly refuse: () => void;
  readonly onFault: (error: unknown) => void;
}): CheckedSender {
  let pending: LiveMessage[] = [];
  let state: 'idle' | 'checking' | 'again' | 'stopped' = 'idle';
  const isStopped = (): boolean => state === 'stopped';
  const run = async (): Promise<void> => {
    state = 'checking';
    const messages = pending;
    pending = [];
    try {
      const isAllowed = await parts.isAllowed();
      if (isStopped()) return;
      if (!isAllowed) {
        state = 'stopped';
        return parts.refuse();
      }
      for (const message of messages) parts.send(message);
    } catch (error) {
      // Nothing is sent unchecked; the next heartbeat checks again.
      if (messages.length > 0) pending = [{ kind: 'anything' }];
      parts.onFault(error);
    }
    if (isStopped()) return;
    const isDueAgain = (state as string) === 'again';
    state = 'idle';
    if (isDueAgain) void run();
  };
  const check = (): void => {
    if (state === 'idle') void run();
    else if (state === 'checking') state = 'again';
  };
  return {
    send: (messages) => {
      pending = pending.length + messages.length > MAX_PENDING ? [{ kind: 'anything' }] : [...pending, ...messages];
      check();
    },
    check,
    stop: () => {
      state = 'stopped';
    },
  };
}
