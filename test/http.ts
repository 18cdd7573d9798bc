import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { expect, vi } from 'vitest';
import { createAccess, type Access } from '../src/app/projects/access.ts';
import { createKeyUses, type KeyUses } from '../src/app/projects/key-uses.ts';
import { createKey, removeKey } from '../src/app/projects/keys.ts';
import { changeProject, createProject } from '../src/app/projects/projects.ts';
import { createPaymentReader } from '../src/app/payments/read-payment.ts';
import type { WebhookDelivery } from '../src/app/webhooks/deliver-due.ts';
import { createWebhookSender } from '../src/webhooks/send.ts';
import type { KeyKind, Mode, Permission, Scope } from '../src/domain/permission.ts';
import { createLogWatch, type LogWatch } from '../src/app/live/log-watch.ts';
import { createPaymentWatch } from '../src/app/live/payment-watch.ts';
import { createEventReader } from '../src/app/live/read-events.ts';
import { loadAssets } from '../src/http/pages/assets.ts';
import { checkoutRoutes } from '../src/http/checkout/routes.ts';
import type { Checkout } from '../src/http/checkout/show-payment.ts';
import { docsRoutes } from '../src/http/docs/routes.ts';
import { eventRoutes } from '../src/http/events/routes.ts';
import { greenfieldRoutes } from '../src/http/greenfield/routes.ts';
import { healthRoutes } from '../src/http/health.ts';
import { createMetrics, createScrape, metricsRoute, type Scrape } from '../src/http/metrics.ts';
import { createRateLimits, type RateLimits } from '../src/http/rate-limit.ts';
import { paymentRequestRoutes } from '../src/http/payment-requests/routes.ts';
import { refundRoutes } from '../src/http/refunds/routes.ts';
import { buildServer, type ServerOptions } from '../src/http/server.ts';
import { compileSchema } from '../src/http/validation.ts';
import { paymentApis } from '../src/service/payment-apis.ts';
import type { Problems } from '../src/domain/problems.ts';
import { listen, type Notifications } from '../src/store/notifications.ts';
import { createTestDatabase } from './database.ts';
import { testApp, type ManualClock, type TestApp } from './harness.ts';
import { responseFaults } from './response-shape.ts';
import { WAIT } from './deadline.ts';
import { noteProblems } from './problems.ts';

/** One request. An object as `body` is sent as JSON; texts and bytes are sent as they are. */
export interface Call {
  /** The mode of the called address; by default the sandbox. */
  readonly side?: Mode;
  readonly method?: string;
  readonly path: string;
  /** An API key for the Authorization header. */
  readonly key?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The client's address; 127.0.0.1 unless said otherwise. */
  readonly address?: string;
}

export interface Answer<Body = unknown> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Each `Set-Cookie`. */
  readonly setCookies: readonly string[];
  readonly text: string;
  readonly bytes: Uint8Array;
  /** The parsed JSON; undefined where the answer is something else. */
  readonly body: Body;
}

export interface KeySpec {
  readonly mode: Mode;
  readonly kind: KeyKind;
  readonly permission: Permission | null;
  readonly scopes?: readonly Scope[];
}

/** A project of its own with keys of every kind, made when they are first asked for. */
export interface Shop {
  readonly projectId: string;
  key(spec?: Partial<KeySpec>): Promise<string>;
  /** Calls with a full secret test key, or with the key that is named. */
  call<Body = Fields>(call: Call & { readonly as?: Partial<KeySpec> }): Promise<Answer<Body>>;
}

/** The fields of an answer that most tests read. */
export interface Fields {
  readonly id: string;
  readonly status: string;
  readonly transaction: Record<string, unknown> & { readonly id: string; readonly status: string };
  readonly [name: string]: unknown;
}

/** Both addresses of the service on a real database, with a clock that the test drives. */
export interface HttpTest {
  readonly app: TestApp;
  readonly clock: ManualClock;
  readonly access: Access;
  /** Where keys were used from; saved when a test says so. */
  readonly keyUses: KeyUses;
  readonly scrape: () => Promise<Scrape>;
  readonly limits: RateLimits;
  readonly notifications: Notifications;
  /** The calls that wait for events. */
  readonly logs: LogWatch;
  /** Sends webhooks for requests; its key seals the secrets of endpoints. */
  readonly webhooks: WebhookDelivery;
  readonly problems: Problems;
  /** Logged errors; a sound service logs none. */
  readonly logged: readonly string[];
  server(side: Mode): FastifyInstance;
  /** Another server on the same application: with other limits, behind a proxy, in production. */
  build(options: Partial<ServerOptions>): FastifyInstance;
  call<Body = unknown>(call: Call, server?: FastifyInstance): Promise<Answer<Body>>;
  shop(): Promise<Shop>;
  changeProject(id: string, changes: Parameters<typeof changeProject>[2]): Promise<void>;
  revokeKey(keyText: string): Promise<void>;
  close(): Promise<void>;
}

const PLENTY = { test: 1_000_000, live: 1_000_000, page: 1_000_000 };
export const METRICS_TOKEN = 'metrics-token-of-the-test';
export const BASE_URLS = { live: 'https://api.example', test: 'https://sandbox.api.example' } as const;

/** Where webhooks of tests may go. */
const policyOf = (mode: Mode) => ({ mode, production: false, allowCidrs: [] });

/** Starts the application and both servers. Every answer is checked against its route's schema and for its headers. */
export async function httpTest(): Promise<HttpTest> {
  const { database, drop } = await createTestDatabase();
  const app = await testApp({ database });
  const notifications = listen(database);
  const access = createAccess(app.db, notifications, app.clock);
  const keyUses = createKeyUses(app.db, app.clock);
  // Registered after the cache's own listeners, so the cache has forgotten when these are told.
  let heard: (() => void)[] = [];
  const notify = (): void => {
    for (const resolve of heard) resolve();
    heard = [];
  };
  notifications.on('access', notify);
  notifications.onDown(notify);
  const limits = createRateLimits(PLENTY, null);
  const metrics = createMetrics();
  const scrape = createScrape(metrics.registry, () => Promise.resolve([]));
  const logged: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(line) });
  const problems = noteProblems((noted) => void logged.push(JSON.stringify(noted)));
  const webhooks = {
    sender: createWebhookSender({ policyOf, now: () => performance.now() }),
    sealingKeys: [randomBytes(32)] as const,
  };
  const api: Checkout = {
    app,
    webhooks: () => Promise.resolve(webhooks),
    creator: app.creator,
    reader: createPaymentReader(app),
    access,
    assets: await loadAssets(),
    watch: createPaymentWatch(notifications),
    problems,
    documents: { app, renderer: app.renderer },
  };
  const logs = createLogWatch(notifications);
  const faults: string[] = [];
  const built: FastifyInstance[] = [];
  const build = (options: Partial<ServerOptions>): FastifyInstance => {
    const server = buildServer({
      side: 'test',
      access,
      keyUses,
      limits,
      baseUrls: BASE_URLS,
      production: false,
      trustProxy: null,
      tls: null,
      log,
      problems,
      onAnswered: metrics.onAnswered,
      plugins: apiPlugins(api, access, logs, scrape),
      ...options,
    });
    // The program compiles a schema at its first request; no test is to depend on which requests came.
    server.addHook('onRoute', ({ schema = {} }) => {
      for (const part of [schema.body, schema.querystring, schema.params, schema.headers])
        if (part !== undefined) compileSchema(part as object);
    });
    server.addHook('onSend', (request, reply, payload, done) => {
      faults.push(...faultsOf(request, reply.statusCode, payload));
      done();
    });
    built.push(server);
    return server;
  };
  const servers: Record<Mode, FastifyInstance> = { live: build({ side: 'live' }), test: build({ side: 'test' }) };
  await Promise.all([servers.live.ready(), servers.test.ready()]);
  await vi.waitFor(() => expect(notifications.healthy()).toBe(true), WAIT);

  /** Makes a change of keys or projects and waits until this process has heard of it. */
  const heardOf = async (change: () => Promise<{ readonly kind: string }>): Promise<void> => {
    const told = new Promise<void>((resolve) => heard.push(resolve));
    const outcome = await change();
    if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome));
    await told;
  };
  const keyIds = new Map<string, string>();
  const call = async <Body>(request: Call, server = servers[request.side ?? 'test']): Promise<Answer<Body>> => {
    const answer = await inject<Body>(server, request);
    const where = `${request.method ?? 'GET'} ${request.path.slice(0, 200)} → ${answer.status} ${answer.text.slice(0, 500)}`;
    const wrong = [...faults.splice(0), ...rateLimitHeaders(answer.headers)];
    if (wrong.length > 0) throw new Error(`${where}: ${wrong.join('; ')}`);
    return answer;
  };
  return {
    app,
    clock: app.clock,
    access,
    keyUses,
    scrape,
    limits,
    notifications,
    logs,
    webhooks,
    problems,
    logged,
    server: (side) => servers[side],
    build,
    call,
    shop: () => openShop(app, call, keyIds),
    changeProject: (id, changes) => heardOf(() => changeProject(app, id, changes)),
    revokeKey: (text) => heardOf(() => removeKey(app, keyIds.get(text) ?? '')),
    close: async () => {
      await Promise.all(built.map((server) => server.close()));
      await webhooks.sender.close(0);
      api.watch.stop();
      logs.stop();
      await app.creator.idle();
      await notifications.stop();
      await drop();
    },
  };
}

/** Makes a project; its keys are made when they are first asked for, and their ids are noted in `keyIds`. */
async function openShop(app: TestApp, call: HttpTest['call'], keyIds: Map<string, string>): Promise<Shop> {
  const created = await createProject(app, 'Shop');
  if (created.kind !== 'done') throw new Error(created.code);
  const projectId = created.project.id;
  const keys = new Map<string, Promise<string>>();
  const make = async (spec: KeySpec): Promise<string> => {
    const made = await createKey(app, { projectId, name: 'Key', ...spec });
    if (made.kind !== 'done') throw new Error(made.code);
    keyIds.set(made.key, made.stored.id);
    return made.key;
  };
  const key = (spec: Partial<KeySpec> = {}): Promise<string> => {
    const whole: KeySpec = { mode: 'test', kind: 'secret', permission: 'full', ...spec };
    const name = `${whole.mode} ${whole.kind} ${whole.permission} ${whole.scopes?.join(' ')}`;
    const known = keys.get(name) ?? make(whole);
    keys.set(name, known);
    return known;
  };
  return {
    projectId,
    key,
    call: async ({ as, ...request }) => {
      const side = request.side ?? as?.mode ?? 'test';
      return call({ key: await key({ mode: side, ...as }), ...request, side });
    },
  };
}

/** All routes of a server, as the service itself registers them. */
function apiPlugins(
  api: Checkout,
  access: Access,
  logs: LogWatch,
  scrape: HttpTest['scrape'],
): ServerOptions['plugins'] {
  return [
    healthRoutes(() => Promise.resolve({ ok: true, checks: { database: 'ok' }, degraded: false })),
    metricsRoute(scrape, METRICS_TOKEN),
    ...paymentApis(api),
    paymentRequestRoutes(api),
    refundRoutes(api),
    eventRoutes(api, createEventReader(api.app, logs), access),
    greenfieldRoutes({ ...api, access, policyOf }),
    checkoutRoutes(api),
    docsRoutes({ baseUrls: BASE_URLS, assets: api.assets }),
  ];
}

async function inject<Body>(server: FastifyInstance, call: Call): Promise<Answer<Body>> {
  const { body } = call;
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  const hasBody = body !== undefined;
  const response = await server.inject({
    method: call.method ?? (hasBody ? 'POST' : 'GET'),
    url: call.path,
    headers: {
      ...(call.key === undefined ? {} : { authorization: `Bearer ${call.key}` }),
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...call.headers,
    },
    ...(hasBody ? { payload: isRaw ? body : JSON.stringify(body) } : {}),
    ...(call.address === undefined ? {} : { remoteAddress: call.address }),
  });
  const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
  const isPlain = headers['content-encoding'] === undefined && response.payload !== '';
  const isJson = isPlain && (headers['content-type'] ?? '').startsWith('application/json');
  return {
    status: response.statusCode,
    headers,
    setCookies: [response.headers['set-cookie'] ?? []].flat(),
    text: response.payload,
    bytes: response.rawPayload,
    body: (isJson ? JSON.parse(response.payload) : undefined) as Body,
  };
}

/** The faults of the three headers that every answer carries. */
export function rateLimitHeaders(headers: Readonly<Record<string, string | undefined>>): readonly string[] {
  const read = (name: string): number => (/^\d+$/.test(headers[name] ?? '') ? Number(headers[name]) : NaN);
  const limit = read('x-ratelimit-limit');
  const remaining = read('x-ratelimit-remaining');
  const reset = read('x-ratelimit-reset');
  const faults: string[] = [];
  if (!(limit > 0)) faults.push(`X-RateLimit-Limit is ${headers['x-ratelimit-limit']}`);
  if (!(remaining >= 0 && remaining <= limit))
    faults.push(`X-RateLimit-Remaining is ${headers['x-ratelimit-remaining']}`);
  const now = Date.now() / 1000;
  // Thirty in half an hour: what makes invoices of a payment request. All others count by the minute.
  const windowSeconds = limit === 30 ? 1_800 : 60;
  if (!(reset >= Math.floor(now) && reset <= now + windowSeconds + 2))
    faults.push(`X-RateLimit-Reset is ${headers['x-ratelimit-reset']}`);
  return faults;
}

function faultsOf(request: FastifyRequest, status: number, payload: unknown): readonly string[] {
  if (request.method === 'HEAD' || request.routeOptions.config.guard?.kind !== 'api') return [];
  // Greenfield is documented by those who made it.
  if (request.routeOptions.schema?.hide === true) return [];
  const text = typeof payload === 'string' ? payload : String(payload);
  return responseFaults(request.routeOptions.schema?.response, status, text).map(
    (fault) => `${request.method} ${request.url} → ${status}: ${fault}`,
  );
}
