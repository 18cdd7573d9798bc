import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Instance } from '../config/instance.ts';
import { isLocal } from './https-rule.ts';

/** Whether the service can do its work, by part: `ok`, or why it cannot. */
export interface Readiness {
  readonly ok: boolean;
  readonly checks: Readonly<Record<string, string>>;
  /** Whether a part does not work; the checks say which. */
  readonly degraded: boolean;
}

/**
 * `GET /healthz`: the process answers, and identifies itself. `GET /readyz`: whether it can do its work. The reasons
 * why it cannot name hosts and quote other programs, so that only clients allowed by `mayReadDetails` can read them and
 * `instance`: by default this machine.
 */
export function healthRoutes(
  ready: () => Promise<Readiness>,
  mayReadDetails: (request: FastifyRequest) => boolean = isLocal,
  instance: Instance | null = null,
): (app: FastifyInstance) => void {
  return (app) => {
    const options = { config: { guard: { kind: 'health' as const } }, schema: { hide: true } };
    app.get('/healthz', options, (request) => ({ status: 'ok', ...(mayReadDetails(request) ? instance : null) }));
    app.get('/readyz', options, async (request, reply) => {
      const { ok, degraded, checks } = await ready();
      const status = ok ? (degraded ? 'degraded' : 'ready') : 'not_ready';
      const shownChecks = mapStates(checks, mayReadDetails(request) ? clean : withoutReason);
      return reply.code(ok ? 200 : 503).send({ status, checks: shownChecks });
    });
  };
}

function mapStates(checks: Readiness['checks'], map: (state: string) => string): Readiness['checks'] {
  return Object.fromEntries(Object.entries(checks).map(([name, state]) => [name, map(state)]));
}

const withoutReason = (state: string): string => (state === 'ok' ? 'ok' : 'degraded');

/** A node's text must not control the terminal on which it is read. */
const clean = (state: string): string => state.replaceAll(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
