import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ProjectNews, ProjectWatch } from '../../app/live/project-watch.ts';
import { roleOfOpenSession } from '../../app/people/open-session.ts';
import type { Troubles } from '../../domain/trouble.ts';
import type { Notifications } from '../../store/notifications.ts';
import { publicPaymentId } from '../../wire/payment.ts';
import { RequestError } from '../errors.ts';
import {
  createEventSender,
  createSlots,
  givenHeaders,
  HEARTBEAT_MS,
  TRY_AGAIN_SECONDS,
  type StreamLimits,
} from '../event-stream.ts';
import { CONTRACT } from './contract/index.ts';
import type { LiveMessage } from './contract/live.ts';
import { scopeOf } from './project-scope.ts';
import { signedInOf, type Dashboard } from './route.ts';

/** What live updates work with. */
export interface Live {
  readonly watch: ProjectWatch;
  readonly notifications: Pick<Notifications, 'on'>;
  readonly troubles: Troubles;
  readonly limits?: Partial<StreamLimits>;
  readonly heartbeatMs?: number;
}

/** One client is a person. */
const LIMITS: StreamLimits = { streams: 2_000, perClient: 30, unreadBytes: 65_536 };
const URL = '/dashboard/api/projects/:project/:mode/events';
const ROUTE = {
  config: { guard: { kind: 'session', action: 'read_payments' }, stream: true },
  schema: { hide: true, params: CONTRACT[`GET ${URL}`].params },
  exposeHeadRoute: false,
} as const;

/** How a stream looks again whether it may go on. */
interface OpenStream {
  readonly personId: string;
  look(): void;
  end(): void;
}

/**
 * One stream of server-sent events for each open tab. Before anything is told, and at each heartbeat, session and role
 * are read anew; the stream ends with the message `session` when they are not what it began with.
 */
export function liveRoutes(app: FastifyInstance, dashboard: Dashboard): void {
  const { live } = dashboard;
  const limits = { ...LIMITS, ...live.limits };
  const slots = createSlots(limits);
  const streams = new Set<OpenStream>();
  let isClosing = false;
  live.notifications.on('sessions', ([personId]) => {
    for (const stream of streams) if (stream.personId === personId) stream.look();
  });
  // Before the server waits for its connections: a stream never ends by itself.
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
    const scope = scopeOf(request, request.params);
    const signedIn = signedInOf(request);
    const personId = signedIn.person.id;
    const release = isClosing ? null : slots.take(personId);
    if (release === null) throw busy(reply);
    const sender = createEventSender(reply.raw, {
      unreadBytes: limits.unreadBytes,
      heartbeatMs: live.heartbeatMs ?? HEARTBEAT_MS,
      onHeartbeat: () => teller.look(),
    });
    const send = (message: LiveMessage): void => sender.write(eventOf(message));
    const teller = createTeller({
      isAllowed: async () =>
        (await roleOfOpenSession(dashboard.people.app, signedIn, scope.projectId, 'read_payments')) === scope.role,
      send,
      refuse: () => sender.endWith(eventOf({ kind: 'session' })),
      onFault: (error) => live.troubles.happened('updates of the dashboard', error, { request: request.id }),
    });
    const stream: OpenStream = { personId, look: () => teller.look(), end: () => sender.end() };
    const unwatch = live.watch.watch(scope, (news) => teller.tell(news.map(messageOf)));
    streams.add(stream);
    reply.raw.once('close', () => {
      streams.delete(stream);
      unwatch();
      teller.stop();
      sender.stop();
      release();
    });
    void reply.hijack();
    sender.begin(givenHeaders(reply));
    // A browser that comes back has missed what happened meanwhile; it says so with the id.
    sender.write(`id: seen\n${eventOf({ kind: 'version', version: dashboard.version })}`);
    if (request.headers['last-event-id'] !== undefined) send({ kind: 'anything' });
    // It may have ended between the guard and the watch.
    teller.look();
    return reply;
  });
}

function busy(reply: FastifyReply): RequestError {
  void reply.header('retry-after', String(TRY_AGAIN_SECONDS));
  return new RequestError('service_unavailable', 'Too many tabs of the dashboard are open. This one asks by itself.');
}

function eventOf(message: LiveMessage): string {
  return `data: ${JSON.stringify(message)}\n\n`;
}

function messageOf(news: ProjectNews): LiveMessage {
  return news.kind === 'payment' || news.kind === 'payment_created'
    ? { kind: news.kind, id: publicPaymentId(news) }
    : { ...news };
}

interface Teller {
  /** Sends them once it is sure that they may be told. */
  tell(messages: readonly LiveMessage[]): void;
  /** Looks whether the stream may go on. */
  look(): void;
  stop(): void;
}

/** More than this that could not be told yet is told as `anything`. */
const MAX_PENDING = 500;

/** Asks before it tells, one question at a time; what comes meanwhile waits for the next. */
function createTeller(parts: {
  readonly isAllowed: () => Promise<boolean>;
  readonly send: (message: LiveMessage) => void;
  readonly refuse: () => void;
  readonly onFault: (error: unknown) => void;
}): Teller {
  let pending: LiveMessage[] = [];
  let state: 'idle' | 'looking' | 'again' | 'stopped' = 'idle';
  const isStopped = (): boolean => state === 'stopped';
  const look = async (): Promise<void> => {
    state = 'looking';
    const telling = pending;
    pending = [];
    try {
      const isAllowed = await parts.isAllowed();
      if (isStopped()) return;
      if (!isAllowed) {
        state = 'stopped';
        return parts.refuse();
      }
      for (const message of telling) parts.send(message);
    } catch (error) {
      // Nothing is told unasked: the next heartbeat asks again.
      if (telling.length > 0) pending = [{ kind: 'anything' }];
      parts.onFault(error);
    }
    if (isStopped()) return;
    const wasAskedAgain = (state as string) === 'again';
    state = 'idle';
    if (wasAskedAgain) void look();
  };
  const ask = (): void => {
    if (state === 'idle') void look();
    else if (state === 'looking') state = 'again';
  };
  return {
    tell: (messages) => {
      pending = pending.length + messages.length > MAX_PENDING ? [{ kind: 'anything' }] : [...pending, ...messages];
      ask();
    },
    look: ask,
    stop: () => {
      state = 'stopped';
    },
  };
}
