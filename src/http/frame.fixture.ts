import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { pino } from 'pino';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Access, AccessKey, ProjectAccess } from '../app/projects/access.ts';
import { healthRoutes } from './health.ts';
import { createMetrics, createScrape, metricsRoute } from './metrics.ts';
import { createRateLimits } from './rate-limit.ts';
import { buildServer, type ServerOptions } from './server.ts';
import { email, httpUrl, metadata, oneOf, text } from './fields.ts';
import type { Operation } from '../domain/permission.ts';
import { NO_REPORTS } from '../domain/problems.ts';

export const ORIGIN = 'https://shop.example';
export const project: ProjectAccess = {
  id: 'p1',
  name: 'Shop',
  active: true,
  allowIps: [],
  allowOrigins: [ORIGIN],
  defaultExpiryMinutes: null,
  defaultSuccessUrl: null,
};

/** An access that knows the keys it is given by their text; `find` of `broken` fails as it does without a database. */
export function accessOf(keys: Readonly<Record<string, Partial<AccessKey>>>): Access {
  const base = { mode: 'test', kind: 'secret', permission: 'full', scopes: null, endsAt: null, project } as const;
  return {
    find: (keyText) => {
      if (keyText === 'broken') throw Object.assign(new Error('gone'), { code: '57P01' });
      const key = keys[keyText];
      return key === undefined ? null : { id: keyText, ...base, ...key };
    },
    project: () => null,
    anyProjectAllows: (origin) => origin === ORIGIN,
    hasLogo: () => false,
  };
}

export const KEYS = {
  sk_test: {},
  sk_live: { mode: 'live' },
  pk_test: { kind: 'public' },
  sk_read: { permission: 'read' },
  sk_write: { permission: 'write' },
  sk_home: { project: { ...project, allowIps: ['10.0.0.0/8', '2001:db8::/32'] } },
  sk_off: { project: { ...project, active: false } },
} as const satisfies Readonly<Record<string, Partial<AccessKey>>>;

/** Routes of every kind of guard, to try the frame with. */
function tryRoutes(app: FastifyInstance): void {
  const order = (operation: Operation) => ({ guard: { kind: 'api', api: 'v1', operation } }) as const;
  const body = Type.Object({
    amount: Type.Number(),
    expires_in: Type.Optional(Type.Integer({ minimum: 60, maximum: 86_400 })),
    email: Type.Optional(email),
    return_url: Type.Optional(httpUrl),
    note: Type.Optional(text({ max: 10 })),
    metadata: Type.Optional(metadata),
  });
  const querystring = Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
    status: Type.Optional(oneOf(['pending', 'completed'])),
    testing_mode: Type.Optional(Type.Boolean()),
  });
  app.post('/v1/orders', { config: order('create_payment'), schema: { body } }, (request) => ({ taken: request.body }));
  app.get('/v1/orders', { config: order('read_payments'), schema: { querystring } }, (request) => ({
    taken: request.query,
  }));
  app.get('/v1/orders/:id', { config: order('read_payment') }, (request) => ({ key: request.key?.id }));
  app.post('/v1/orders/:id/cancel', { config: order('change_payment') }, () => ({ cancelled: true }));
  app.get('/v1/fault', { config: order('read_payments') }, () => {
    throw new Error('select secret from vault');
  });
  app.get(
    '/api/transactions/:id',
    { config: { guard: { kind: 'api', api: 'transactions', operation: 'read_payment' } } },
    () => ({ success: true }),
  );
  app.get('/pay/:id', { config: { guard: { kind: 'page' } } }, () => 'page');
}

/** The frame on its own, with routes to try and small limits. */
export function tryServer(
  options: Partial<ServerOptions> = {},
  perMinute = { test: 5, live: 9, page: 7 },
): FastifyInstance {
  const limits = createRateLimits(perMinute, null);
  const metrics = createMetrics();
  return buildServer({
    side: 'test',
    access: accessOf(KEYS),
    limits,
    baseUrls: { live: 'https://api.example', test: 'https://sandbox.example' },
    production: false,
    trustProxy: null,
    tls: null,
    log: pino({ level: 'silent' }),
    problems: NO_REPORTS,
    onAnswered: metrics.onAnswered,
    plugins: [
      healthRoutes(() => Promise.resolve({ ok: false, checks: { database: 'away' }, degraded: false })),
      metricsRoute(
        createScrape(metrics.registry, () => Promise.resolve([])),
        'scrape-me',
      ),
      tryRoutes,
    ],
    ...options,
  });
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Starts the server on a free port and returns a way to send it bytes as they are and read one answer. */
export async function overSocket(app: FastifyInstance): Promise<(bytes: string) => Promise<RawAnswer>> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  return async (bytes) => {
    const socket = net.connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (part: string) => (answer += part));
    socket.write(bytes);
    await once(socket, 'close');
    return readAnswer(answer);
  };
}

function readAnswer(answer: string): RawAnswer {
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(first.split(' ')[1]), headers, body: rest.join('\r\n\r\n') };
}
