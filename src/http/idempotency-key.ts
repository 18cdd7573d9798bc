import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IdempotencyRequest, Replay } from '../app/idempotency.ts';
import type { AccessKey } from '../app/access.ts';
import { invalid, RequestError } from './errors.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;
const NO_BODY = Buffer.alloc(0);

/** What the `Idempotency-Key` header asks for; null without one. Scope: project, mode, method and path. */
export function idempotencyOf(request: FastifyRequest, key: AccessKey): IdempotencyRequest | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  if (typeof header !== 'string' || !KEY.test(header)) {
    throw invalid('Idempotency-Key', 'Idempotency-Key must have 1 to 255 visible ASCII characters.');
  }
  const [path = ''] = request.url.split('?');
  return {
    projectId: key.project.id,
    mode: key.mode,
    route: `${request.method} ${path}`,
    key: header,
    bodyHash: createHash('sha256')
      .update(request.rawBody ?? NO_BODY)
      .digest(),
  };
}

/** Answers a request whose key was used before. */
export function sendReplay(reply: FastifyReply, replay: Replay): FastifyReply {
  switch (replay.kind) {
    case 'replayed':
      return sendJson(reply.header('idempotent-replayed', 'true'), replay.body);
    case 'key_reused':
      throw invalid(
        'Idempotency-Key',
        'Idempotency-Key was used with another body before. Use a new key for a new request.',
      );
    case 'still_running':
      throw new RequestError(
        'conflict_error',
        'The first request with this Idempotency-Key is still running. Try again shortly.',
      );
  }
}

/** Sends a body that is JSON text already. */
export function sendJson(reply: FastifyReply, body: string): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(body);
}
