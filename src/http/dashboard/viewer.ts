import type { FastifyRequest } from 'fastify';
import { CHANGE_PAYMENTS, mayDo } from '../../domain/role.ts';
import type { PaymentView } from './contract/payments.ts';
import type { ProjectScope } from './project-scope.ts';
import { signedInOf } from './route.ts';

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
