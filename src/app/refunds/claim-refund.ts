import { refundView } from '../../wire/refund.ts';
import { matchingAddress } from '../../rails/address.ts';
import { lockRefund, setRefundAddress } from '../../store/refunds/refunds.ts';
import type { App } from '../context.ts';
import { refundAddress } from './refund-address.ts';
import { keepUncompared } from './unread-money.ts';
import { inRefundTransaction, type RefundOutcome } from './save-refund.ts';

/** The customer enters on the claim page where the money should go. */
export function claimRefund(app: App, id: string, address: string): Promise<RefundOutcome> {
  return inRefundTransaction(app, null, async (trx) => {
    const refund = await lockRefund(trx, id);
    if (refund === null) return { kind: 'not_found' };
    if (refund.status !== 'pending' || refund.address !== null) {
      const message = refund.address === null ? 'This refund is closed.' : 'This refund already has an address.';
      return { kind: 'refused', param: 'address', message };
    }
    const checked = await refundAddress(app, trx, refund, address);
    if (checked.kind !== 'ok') return checked;
    const claimed = { ...refund, address: checked.address };
    await setRefundAddress(trx, claimed, matchingAddress(refund.network, checked.address));
    await keepUncompared(app, trx, claimed);
    return { kind: 'done', refund: claimed, body: JSON.stringify(refundView(claimed, app.links)) };
  });
}
