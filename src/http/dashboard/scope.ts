import { parsePaymentId } from '../../domain/payment-kind.ts';
import { sentenceError } from '../page-sentences.ts';
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { IdempotencyRequest } from '../../app/idempotency.ts';
import type { PaymentSelector } from '../../app/payments/change-payment.ts';
import type { SignedIn } from '../../app/people/sessions.ts';
import { parseUuid } from '../../domain/id.ts';
import { MODES, type Mode } from '../../domain/permission.ts';
import { roleIn, type Role, CHANGE_PAYMENTS, mayDo } from '../../domain/role.ts';
import { notFound, type RequestError } from '../errors.ts';
import type { PaymentView } from './payments/contract.ts';

/** The project and mode of a path, and the person's role there, as checked by the guard. */
export interface ProjectScope {
  readonly projectId: string;
  readonly mode: Mode;
  /** The person's role in this project. */
  readonly role: Role;
}

/** The scope that the parameters of a path name. */
export type ScopeIn<Params> = Params extends { readonly mode: string }
  ? ProjectScope
  : Params extends { readonly project: string }
    ? Omit<ProjectScope, 'mode'>
    : null;

export function scopeIn<Params>(request: FastifyRequest, params: Params): ScopeIn<Params>;
export function scopeIn(request: FastifyRequest, params: unknown): ProjectScope | Omit<ProjectScope, 'mode'> | null {
  const { project, mode: named } = Object(params) as { readonly project?: string; readonly mode?: string };
  if (project === undefined) return null;
  const projectId = parseUuid(project);
  const role = projectId === null ? null : roleIn(signedInOf(request).memberships, projectId);
  if (projectId === null || role === null) throw new Error('A route below a project is not guarded.');
  if (named === undefined) return { projectId, role };
  const mode = MODES.find((one) => one === named);
  if (mode === undefined) throw new Error('A route below a mode is not guarded.');
  return { projectId, role, mode };
}

/** The signed-in person on a route that requires a session. */
export function signedInOf(request: FastifyRequest): SignedIn {
  if (request.signedIn === null) throw new Error('A route that needs a session is not guarded.');
  return request.signedIn;
}

/** The payment in a path, by its public id. */
export function paymentSelector({ projectId, mode }: ProjectScope, text: string): PaymentSelector {
  const named = parsePaymentId(text);
  if (named === null) throw noPayment();
  return { ...named, projectId, mode };
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
  return sentenceError('conflict_error', kind === 'key_reused' ? 'form_sent' : 'form_running');
}
