import type { Mode } from '../../../../src/domain/permission.ts';
import type { Action } from '../../../../src/domain/role.ts';
import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';

type ActionName = 'accept_payment' | 'refund' | 'refund_excess' | 'see_payment' | 'see_refund';

/**
 * The names of the possible actions on the item's payment, the best one first; empty if the item is of no payment. If
 * the person's role permits none of them, the payment can be looked at.
 *
 * @param actions the person's actions in the project
 */
export function actionNames(
  { kind, until }: Pick<AttentionView, 'kind' | 'until'>,
  mode: Mode,
  actions: readonly Action[],
): readonly ActionName[] {
  const refund = actions.includes('request_refunds');
  const accept = actions.includes(`change_${mode}_payments`);
  const seen = ['see_payment'] as const;
  switch (kind) {
    case 'underpaid':
    case 'paid_late':
    case 'paid_after_cancel':
      // Until the time to pay is over, the customer can still send the rest.
      if ((kind === 'underpaid' && until !== null) || (!accept && !refund)) return seen;
      return [...(accept ? (['accept_payment'] as const) : []), ...(refund ? (['refund'] as const) : [])];
    case 'overpaid':
      return refund ? ['refund_excess'] : seen;
    case 'reorged':
    case 'till_money_gone':
    case 'refund_paid_twice':
    case 'refund_paid_anyway':
    case 'slow':
      return seen;
    case 'refund_to_sign':
      return actions.includes('create_refunds') ? ['see_refund'] : seen;
    case 'endpoint_disabled':
    case 'endpoint_failing':
    case 'wallet_changed':
    case 'key_beyond_role':
    case 'node_behind':
    case 'no_wallet':
    case 'sweep':
      return [];
  }
}
