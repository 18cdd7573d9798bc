import type { Mode } from '../../../../src/domain/permission.ts';
import type { Action } from '../../../../src/domain/role.ts';
import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';

/**
 * The name of the best action; null: its command is shown. Actions that the person's role does not permit are replaced
 * by showing the payment.
 *
 * @param actions the person's actions in the project
 */
export function actionName(
  kind: AttentionView['kind'],
  mode: Mode,
  actions: readonly Action[],
): 'accept_or_refund' | 'refund_excess' | 'see_payment' | 'see_refund' | null {
  const mayRefund = actions.includes('request_refunds');
  switch (kind) {
    case 'paid_late':
    case 'paid_after_cancel':
    case 'underpaid':
      return mayRefund && actions.includes(`change_${mode}_payments`) ? 'accept_or_refund' : 'see_payment';
    case 'overpaid':
      return mayRefund ? 'refund_excess' : 'see_payment';
    case 'reorged':
    case 'slow':
      return 'see_payment';
    case 'refund_to_sign':
      return actions.includes('create_refunds') ? 'see_refund' : 'see_payment';
    case 'endpoint_disabled':
    case 'endpoint_failing':
    case 'wallet_changed':
    case 'key_beyond_role':
    case 'node_behind':
    case 'no_wallet':
    case 'sweep':
      return null;
  }
}
