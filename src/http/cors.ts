import type { FastifyReply } from 'fastify';
import type { AccessKey } from '../app/projects/access.ts';

const EXPOSED =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Idempotent-Replayed, X-Ignored-Fields, X-Request-Id';
const ONE_DAY_SECONDS = '86400';

/** Allows a page on one of the project's origins to read the answer; only public keys are meant for pages. */
export function allowOrigin(reply: FastifyReply, origin: string | undefined, key: AccessKey): void {
  if (key.kind !== 'public') return;
  void reply.header('vary', 'Origin');
  if (origin === undefined || !key.project.allowOrigins.includes(origin)) return;
  void reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED);
}

/** Answers a preflight from an origin that some project allows. The actual request checks the key's own project. */
export function answerPreflight(reply: FastifyReply, origin: string, allowed: boolean): void {
  void reply.header('vary', 'Origin').code(204);
  if (!allowed) return;
  void reply
    .header('access-control-allow-origin', origin)
    .header('access-control-allow-methods', 'GET, POST')
    .header('access-control-allow-headers', 'Authorization, Content-Type, Idempotency-Key, X-Request-Id')
    .header('access-control-max-age', ONE_DAY_SECONDS);
}
