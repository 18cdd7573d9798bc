import type { FastifyInstance } from 'fastify';

/** Whether the service can do its work, part by part; a part that cannot says why. */
export interface Readiness {
  readonly ok: boolean;
  readonly checks: Readonly<Record<string, string>>;
  /** It works, but not all of it: the checks say what does not. */
  readonly degraded: boolean;
}

/** `GET /healthz`: the process answers. `GET /readyz`: it can do its work. */
export function healthRoutes(ready: () => Promise<Readiness>): (app: FastifyInstance) => void {
  return (app) => {
    const options = { config: { guard: { kind: 'health' as const } }, schema: { hide: true } };
    app.get('/healthz', options, () => ({ status: 'ok' }));
    app.get('/readyz', options, async (_request, reply) => {
      const { ok, degraded, checks } = await ready();
      const status = ok ? (degraded ? 'degraded' : 'ready') : 'not_ready';
      return reply.code(ok ? 200 : 503).send({ status, checks });
    });
  };
}
