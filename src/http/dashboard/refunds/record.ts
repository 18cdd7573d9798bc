import type { SeenPayment } from '../../../app/dashboard/payment-details.ts';
import type { Refundable } from '../../../app/refunds/refundable.ts';
import { encodeId } from '../../../domain/id.ts';
import { fiatDecimals, formatDecimal } from '../../../domain/money.ts';
import { NETWORK_FACTS, transactionPage } from '../../../domain/networks.ts';
import type { Payment } from '../../../domain/payment.ts';
import type { Refund } from '../../../domain/refund.ts';
import type { ListedRefund } from '../../../store/refunds/refund-list.ts';
import { publicPaymentId } from '../../../domain/payment-kind.ts';
import { type Links } from '../../../wire/payment.ts';
import { claimUrl } from '../../../wire/refund.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import { pageOf } from '../record-parts.ts';
import type { Viewer } from '../scope.ts';
import type { ListedRefundView, RefundableView, RefundView } from './contract.ts';

export function refundView(
  refund: Refund,
  { explorerOf, payouts, withChosenAddress }: Pick<SeenPayment, 'explorerOf' | 'payouts' | 'withChosenAddress'>,
  links: Links,
  { refundsTo }: Viewer,
): RefundView {
  const hash = refund.transactionHash;
  const payout = payouts.get(refund.id);
  // Otherwise a refund under way could be paid twice, or paid although it was withdrawn.
  const isOpen = refund.status === 'pending' && (payout === undefined || payout.state === 'dropped');
  return {
    id: encodeId('refund', refund.id),
    status: refund.status,
    amount: formatDecimal(refund.amountMinor, fiatDecimals(refund.currency)),
    currency: refund.currency,
    asset: refund.asset,
    network: refund.network,
    crypto_amount: formatDecimal(refund.units, refund.decimals),
    address: refund.address,
    // The holder of the link decides where the money goes.
    claim_url: refundsTo === 'none' ? null : claimUrl(refund, links),
    reason: refund.reason,
    failure_reason: refund.failureReason,
    transaction_hash: hash,
    explorer_url: hash === null ? null : pageOf(explorerOf(refund), hash, transactionPage),
    created_at: isoTime(refund.createdAt),
    completed_at: isoTimeOrNull(refund.completedAt),
    can: {
      sign: isOpen && refund.mode === 'live' && refund.address !== null && refundsTo === 'any',
      // People who may not choose an address can withdraw only refunds to the customer's own.
      cancel: isOpen && (refundsTo === 'any' || (refundsTo === 'claimed' && !withChosenAddress.has(refund.id))),
    },
  };
}

/** A refund in the list of a project's refunds. */
export function listedRefundView(
  { refund, stage, paymentName, payout, needed, isAddressChosen }: ListedRefund,
  explorerOf: SeenPayment['explorerOf'],
  links: Links,
  viewer: Viewer,
): ListedRefundView {
  const payouts = new Map(payout === null ? [] : [[refund.id, payout]]);
  const withChosenAddress = new Set(isAddressChosen ? [refund.id] : []);
  const view = refundView(refund, { explorerOf, payouts, withChosenAddress }, links, viewer);
  const { paymentId, paymentApi, network, mode, dueAt } = refund;
  return {
    ...view,
    stage,
    payment: { id: publicPaymentId({ id: paymentId, api: paymentApi }), name: paymentName },
    payout: payout && {
      transaction_hash: payout.transactionHash,
      explorer_url: pageOf(explorerOf(refund), payout.transactionHash, transactionPage),
      state: payout.state,
      confirmations: payout.confirmations,
      needed,
    },
    due_at: isoTimeOrNull(dueAt),
    is_joinable: mode === 'live' && NETWORK_FACTS[network].family === 'utxo',
  };
}

export function refundableView(money: Refundable, { currency }: Pick<Payment, 'currency'>): RefundableView {
  const { asset, network, decimals, leftMinor, excess } = money;
  const coins = (units: bigint): string => formatDecimal(units, decimals);
  const fiat = (minor: bigint): string => formatDecimal(minor, fiatDecimals(currency));
  return {
    asset,
    network,
    decimals,
    confirmed: coins(money.confirmedUnits),
    refunded: coins(money.takenUnits),
    left: coins(money.leftUnits),
    left_amount: leftMinor === null ? null : fiat(leftMinor),
    excess: excess === null ? null : coins(excess.units),
    excess_amount: excess === null ? null : fiat(excess.minor),
  };
}
