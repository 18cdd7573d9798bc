import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { IdempotencyRequest } from '../../app/idempotency.ts';
import { RequestError } from '../errors.ts';
import type { ProjectScope } from './project-scope.ts';
import { signedInOf } from './route.ts';

/** The idempotency of a form: sent twice, it does its work once. The browser creates `key` when the form opens. */
export function formRequest(
  request: FastifyRequest,
  { projectId, mode }: ProjectScope,
  key: string,
): IdempotencyRequest {
  return {
    projectId,
    mode,
    // Not the path, which can be written in several ways.
    route: `dashboard ${signedInOf(request).person.id} ${request.method} ${request.routeOptions.url ?? ''}`,
    key,
    bodyHash: createHash('sha256')
      .update(JSON.stringify([request.params, request.body]))
      .digest(),
  };
}

/** The error for a form that was sent before. */
export function notAgain(kind: 'key_reused' | 'still_running'): RequestError {
  return new RequestError(
    'conflict_error',
    kind === 'key_reused'
      ? 'This form was already sent with other values. Check the result, then open the form again.'
      : 'This form is still being processed. Check the result before you send it again.',
  );
}
