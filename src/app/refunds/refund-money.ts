import { PAYMENT_KINDS } from '../../domain/payment-kind.ts';
import { isAssetCode, tokenOf } from '../../domain/asset.ts';
import { isNetwork } from '../../domain/networks.ts';
import { otherMoney } from '../../domain/other-money.ts';
import { NO_MONEY, type Payment, type Quote } from '../../domain/payment.ts';
import type { Refusal } from '../../domain/way-out.ts';
import type { Trx } from '../../store/database.ts';
import { findTransfers } from '../../store/payments/transfers.ts';
import { tokenDecimals } from '../payments/wrong-assets.ts';
import { namesParam, refusalText, rejected, type Rejected } from '../rejected.ts';
import type { App } from '../context.ts';

export type RefundRefusal =
  | { readonly kind: 'not_found' }
  | (Refusal & {
      readonly kind: 'refused';
      readonly param:
        | 'amount'
        | 'crypto_amount'
        | 'crypto_currency'
        | 'network'
        | 'address'
        | 'order_id'
        | 'transaction_id'
        | 'invoice_id'
        | null;
      /** The address is valid, but not of the customer's wallet. */
      readonly notYours?: true;
      /** The sentence of `message`, for pages in other languages than English. */
      readonly sentence?: Rejected;
    });

/** A payment with the money that a refund pays back. */
export type RefundedPayment = Payment & { readonly quote: Quote };

interface RefundRequest {
  readonly wanted: object | null;
  readonly token?: { readonly asset: string; readonly network: string | null } | null;
}

/**
 * The money that a refund is taken from: on the payment's quote, or received in another token. Money in another token
 * has no quote and counts nothing toward the payment's amount, so its refund has an `amount` of 0.
 */
export async function refundMoney(
  app: App,
  trx: Trx,
  payment: Payment,
  { wanted, token }: RefundRequest,
): Promise<{ readonly kind: 'ok'; readonly received: RefundedPayment } | RefundRefusal> {
  const { quote } = payment;
  const blame = PAYMENT_KINDS[payment.api].refundField;
  if (token === undefined || token === null) {
    if (quote !== null && payment.received.all.confirmedUnits > 0n) {
      return { kind: 'ok', received: { ...payment, quote } };
    }
    return refusedAs(blame, rejected('refund_no_money'));
  }
  const { asset } = token;
  const network = token.network ?? quote?.network ?? '';
  if (!isAssetCode(asset)) return refused('crypto_currency', 'crypto_currency is not known.');
  if (!isNetwork(network)) return refused('network', 'network is not known.');
  if (tokenOf(asset, network) === null) return refused('network', `network: there is no ${asset} on ${network}.`);
  if (asset === quote?.asset && network === quote.network) return refundMoney(app, trx, payment, { wanted });
  const transfers = (await findTransfers(trx, [payment.id])).get(payment.id) ?? [];
  const money = otherMoney(payment, transfers).find((each) => each.asset === asset && each.network === network);
  if (money === undefined || money.confirmedUnits === 0n) {
    return refusedAs('crypto_currency', rejected('refund_other_money', { asset, network }));
  }
  if (wanted !== null && 'amountMinor' in wanted) {
    const message = `amount is converted at the payment's quote, which is not in ${asset} on ${network}. Give crypto_amount instead, or neither field to refund all of the ${asset}.`;
    return refused('amount', message);
  }
  const decimals = tokenDecimals(app, payment, { asset, network });
  const unquoted = { asset, network, decimals, owedUnits: 1n, toleranceUnits: 0n, address: quote?.address ?? '' };
  const received = { ...NO_MONEY, all: money };
  return { kind: 'ok', received: { ...payment, amountMinor: 0n, quote: unquoted, received } };
}

type RefusedParam = Extract<RefundRefusal, { kind: 'refused' }>['param'];

function refused(param: RefusedParam, message: string): Extract<RefundRefusal, { kind: 'refused' }> {
  return { kind: 'refused', param, message };
}

/** A refusal in a sentence that exists in every language of the pages. */
export function refusedAs(param: RefusedParam, sentence: Rejected): Extract<RefundRefusal, { kind: 'refused' }> {
  const text = refusalText(sentence, param ?? '');
  return { ...refused(param, param === null || namesParam(sentence) ? text : `${param}: ${text}`), sentence };
}
