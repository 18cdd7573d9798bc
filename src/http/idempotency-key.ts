import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IdempotencyRequest, Replay } from '../app/idempotency.ts';
import type { AccessKey } from '../app/projects/access.ts';
import { invalid, RequestError } from './errors.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;
const NO_BODY = Buffer.alloc(0);

/**
 * The idempotency of the `Idempotency-Key` header; null without the header. Its scope is project, mode, method and
 * path, and for a public key the key itself: a visitor who finds that key in the browser must neither use up the
 * server's idempotency keys nor read its answers.
 */
export function idempotencyOf(request: FastifyRequest, key: AccessKey): IdempotencyRequest | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  if (typeof header !== 'string' || !KEY.test(header)) {
    throw invalid('Idempotency-Key', 'Idempotency-Key must have 1 to 255 visible ASCII characters.');
  }
  return {
    projectId: key.project.id,
    mode: key.mode,
    route: `${key.kind === 'public' ? `${key.id} ` : ''}${request.method} ${routedPath(request)}`,
    key: header,
    bodyHash: createHash('sha256')
      .update(request.rawBody ?? NO_BODY)
      .digest(),
  };
}

/**
 * The path of the matched route with the parsed parameters. A path may be written with escapes (`%63reate`), which
 * would make it a different path for the idempotency key but the same one for the route.
 */
function routedPath(request: FastifyRequest): string {
  const params = request.params as Readonly<Record<string, string>>;
  const pattern = request.routeOptions.url ?? '';
  return pattern.replace(/:(\w+)/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** Answers a request whose key was used before. */
export function sendReplay(reply: FastifyReply, replay: Replay): FastifyReply {
  switch (replay.kind) {
    case 'replayed':
      return sendJson(reply.header('idempotent-replayed', 'true'), replay.body);
    case 'key_reused':
      throw invalid(
        'Idempotency-Key',
        'Idempotency-Key was already used with a different body. Use a new Idempotency-Key for a new request.',
      );
    case 'still_running':
      throw new RequestError(
        'conflict_error',
        'The first request with this Idempotency-Key is still running. Try again shortly.',
      );
  }
}

/** Sends a body that is already JSON text. */
export function sendJson(reply: FastifyReply, body: string): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(body);
}
