import type { FastifyRequest } from 'fastify';
import { decodeId, parseUuid } from '../../domain/id.ts';
import { MODES, type Mode } from '../../domain/permission.ts';
import { roleIn, type Role } from '../../domain/role.ts';
import type { PaymentSelector } from '../../app/payments/change-payment.ts';
import { notFound } from '../errors.ts';
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

/** The same without a mode. */
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
  return { id, projectId, mode, surface: order === null ? 'transaction' : 'order' };
}

/** The same answer for a payment that does not exist and one of another project. */
export function noPayment() {
  return notFound('There is no such payment in this project and mode.');
}
