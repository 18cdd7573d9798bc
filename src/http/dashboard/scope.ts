import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { IdempotencyRequest } from '../../app/idempotency.ts';
import type { PaymentSelector } from '../../app/payments/change-payment.ts';
import { decodeId, parseUuid } from '../../domain/id.ts';
import { MODES, type Mode } from '../../domain/permission.ts';
import { roleIn, type Role, CHANGE_PAYMENTS, mayDo } from '../../domain/role.ts';
import { notFound, RequestError } from '../errors.ts';
import type { PaymentView } from './payments/contract.ts';
import { signedInOf } from './route.ts';

/** The project and mode of a path, and the person's role there, as checked by the guard. */
export interface ProjectScope {
  readonly projectId: string;
  readonly mode: Mode;
  /** The person's role in this project. */
  readonly role: Role;
}

export function scopeOf(
  request: FastifyRequest,
  params: { readonly project: string; readonly mode: string },
): ProjectScope {
  const mode = MODES.find((one) => one === params.mode);
  if (mode === undefined) throw new Error('A route below a mode is not guarded.');
  return { ...projectScopeOf(request, params), mode };
}

/** The project of a path without a mode, and the person's role there. */
export function projectScopeOf(
  request: FastifyRequest,
  params: { readonly project: string },
): Omit<ProjectScope, 'mode'> {
  const projectId = parseUuid(params.project);
  const role = projectId === null ? null : roleIn(signedInOf(request).memberships, projectId);
  if (projectId === null || role === null) throw new Error('A route below a project is not guarded.');
  return { projectId, role };
}

/** The payment in a path: `ord_…` for the Order API, a UUID for the Transaction API. */
export function paymentSelector({ projectId, mode }: ProjectScope, text: string): PaymentSelector {
  const order = decodeId('order', text);
  const id = order ?? parseUuid(text);
  if (id === null) throw noPayment();
  return { id, projectId, mode, api: order === null ? 'transaction' : 'order' };
}

/** The answer is the same for a payment that does not exist and one of another project. */
export function noPayment() {
  return notFound('There is no such payment in this project and mode.');
}

/** The person who sees a payment, and their permissions. */
export interface Viewer {
  readonly personId: string;
  readonly mayChange: boolean;
  /** Whether the person may see where webhooks go. */
  readonly seesWebhooks: boolean;
  readonly mayAnnotate: boolean;
  readonly mayDeleteNotes: boolean;
  readonly refundsTo: PaymentView['can']['refund'];
}

export function viewerOf(request: FastifyRequest, { mode, role }: ProjectScope): Viewer {
  return {
    personId: signedInOf(request).person.id,
    mayChange: mayDo(role, CHANGE_PAYMENTS[mode]),
    seesWebhooks: mayDo(role, 'read_developer'),
    mayAnnotate: mayDo(role, 'write_notes'),
    mayDeleteNotes: mayDo(role, 'delete_notes'),
    refundsTo: mayDo(role, 'create_refunds') ? 'any' : mayDo(role, 'request_refunds') ? 'claimed' : 'none',
  };
}

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
