import { createSlots } from '../../../app/live/slots.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../../app/context.ts';
import type { ProjectChange } from '../../../app/live/project-watch.ts';
import { roleOfOpenSession } from '../../../app/people/open-session.ts';
import { publicPaymentId } from '../../../domain/payment-kind.ts';
import type { ProjectAction } from '../../../domain/role.ts';
import { ownSales, type TillScope } from '../../../store/payments/till-sales.ts';
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
const SCOPE = '/dashboard/api/projects/:project/:mode';

interface Stream {
  readonly action: ProjectAction;
  /** The changes that it passes on. */
  readonly filter: (app: App, scope: TillScope, changes: readonly ProjectChange[]) => Promise<readonly ProjectChange[]>;
}

/** The stream of all changes, and the till's. */
const STREAMS = [
  { url: `${SCOPE}/events`, action: 'read_payments', filter: async (_app, _scope, changes) => changes },
  { url: `${SCOPE}/till/events`, action: 'use_till', filter: ofOwnSales },
] as const satisfies readonly (Stream & { readonly url: string })[];

/** The changes without payments that the person did not make at the till. */
async function ofOwnSales(
  { db }: App,
  scope: TillScope,
  changes: readonly ProjectChange[],
): Promise<readonly ProjectChange[]> {
  const ids = changes.flatMap((change) => ('id' in change ? [change.id] : []));
  const own = await ownSales(db, scope, ids);
  return changes.filter((change) =>
    'id' in change ? own.has(change.id) : change.kind === 'network' || change.kind === 'anything',
  );
}

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
  const open = (request: FastifyRequest, reply: FastifyReply, { action, filter }: Stream): FastifyReply => {
    const scope = scopeIn(request, request.params as { project: string; mode: string });
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
        (await roleOfOpenSession(dashboard.people.app, signedIn, scope.projectId, action)) === scope.role,
      choose: (changes) => filter(dashboard.people.app, { ...scope, personId }, changes),
      send: (change) => send(messageOf(change)),
      refuse: () => sender.endWith(eventOf({ kind: 'session' })),
      onFault: (error) => live.problems.happened('updates of the dashboard', error, { request: request.id }),
    });
    const stream: OpenStream = { personId, check: () => checked.check(), end: () => sender.end() };
    const unwatch = live.watch.watch(scope, (changes) => checked.send(changes));
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
  };
  for (const stream of STREAMS) {
    const { url, action } = stream;
    const config = { guard: { kind: 'session', action }, stream: true } as const;
    const schema = { hide: true, params: CONTRACT[`GET ${url}`].params };
    app.get(url, { config, schema, exposeHeadRoute: false }, (request, reply) => open(request, reply, stream));
  }
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
  /** Sends the chosen changes after checking that the stream may continue. */
  send(changes: readonly ProjectChange[]): void;
  check(): void;
  stop(): void;
}

/** More waiting messages than this are replaced by `anything`. */
const MAX_PENDING = 500;

/** Runs one check at a time; messages that arrive meanwhile wait for the next one. */
function createCheckedSender(parts: {
  readonly isAllowed: () => Promise<boolean>;
  readonly choose: (changes: readonly ProjectChange[]) => Promise<readonly ProjectChange[]>;
  readonly send: (change: ProjectChange) => void;
  readonly refuse: () => void;
  readonly onFault: (error: unknown) => void;
}): CheckedSender {
  let pending: ProjectChange[] = [];
  let state: 'idle' | 'checking' | 'again' | 'stopped' = 'idle';
  const isStopped = (): boolean => state === 'stopped';
  const run = async (): Promise<void> => {
    state = 'checking';
    const changes = pending;
    pending = [];
    try {
      const isAllowed = await parts.isAllowed();
      if (isStopped()) return;
      if (!isAllowed) {
        state = 'stopped';
        return parts.refuse();
      }
      const chosen = changes.length === 0 ? [] : await parts.choose(changes);
      if (isStopped()) return;
      for (const change of chosen) parts.send(change);
    } catch (error) {
      // Nothing is sent unchecked; the next heartbeat checks again.
      if (changes.length > 0) pending = [{ kind: 'anything' }];
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
    send: (changes) => {
      pending = pending.length + changes.length > MAX_PENDING ? [{ kind: 'anything' }] : [...pending, ...changes];
      check();
    },
    check,
    stop: () => {
      state = 'stopped';
    },
  };
}
