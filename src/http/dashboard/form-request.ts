import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { IdempotencyRequest } from '../../app/idempotency.ts';
import { RequestError } from '../errors.ts';
import type { ProjectScope } from './project-scope.ts';
import { signedInOf } from './route.ts';

/** Makes a form that is sent twice, because its answer was lost, do its work once. `key` is made with the form. */
export function formRequest(
  request: FastifyRequest,
  { projectId, mode }: ProjectScope,
  key: string,
): IdempotencyRequest {
  return {
    projectId,
    mode,
    // Not the path as it was written: that has other texts for the same route.
    route: `dashboard ${signedInOf(request).person.id} ${request.method} ${request.routeOptions.url ?? ''}`,
    key,
    bodyHash: createHash('sha256')
      .update(JSON.stringify([request.params, request.body]))
      .digest(),
  };
}

/** Why a form that was sent before is not done again. */
export function notAgain(kind: 'key_reused' | 'still_running'): RequestError {
  return new RequestError(
    'conflict_error',
    kind === 'key_reused'
      ? 'This form was sent before with other values. Open it anew, and see first what came of it.'
      : 'This form is being sent already. See what comes of it before you send it again.',
  );
}
