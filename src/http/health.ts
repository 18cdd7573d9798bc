import type { FastifyInstance } from 'fastify';

/** Whether the service can do its work, part by part; a part that cannot says why. */
export interface Readiness {
  readonly ok: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

/** `GET /healthz`: the process answers. `GET /readyz`: it can do its work. */
export function healthRoutes(ready: () => Promise<Readiness>): (app: FastifyInstance) => void {
  return (app) => {
    const options = { config: { guard: { kind: 'health' as const } }, schema: { hide: true } };
    app.get('/healthz', options, () => ({ status: 'ok' }));
    app.get('/readyz', options, async (_request, reply) => {
      const { ok, checks } = await ready();
      return reply.code(ok ? 200 : 503).send({ status: ok ? 'ready' : 'not_ready', checks });
    });
  };
}
