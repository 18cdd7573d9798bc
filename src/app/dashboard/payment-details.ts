import type { Token } from '../../domain/asset.ts';
import type { Confirmations } from '../../domain/payment.ts';
import { shownAddress } from '../../rails/address.ts';
import { findPaymentDetails, type PaymentDetails } from '../../store/payments/payment-details.ts';
import type { App } from '../context.ts';
import { explorerOf } from '../explorer.ts';
import { selects, type PaymentSelector } from '../payments/change-payment.ts';
import { countsAsPart } from '../payments/payment-actions.ts';
import { irregularPayouts, type IrregularPayout } from '../refunds/refund-cover.ts';
import { refundableMoney, type Refundable } from '../refunds/refundable.ts';
import { policiesOf } from '../payments/payment-policy.ts';
import { possibleActions, type PossibleActions } from '../payments/possible-actions.ts';

/** Everything stored about a payment, with addresses as they are displayed, and its possible actions. */
export interface SeenPayment extends PaymentDetails {
  /** Null while there are no confirmations to count. */
  readonly confirmations: Confirmations | null;
  readonly can: PossibleActions;
  readonly refundable: readonly Refundable[];
  readonly irregularPayouts: readonly IrregularPayout[];
  /** The block explorer for a token; null on a test chain and in the sandbox. */
  readonly explorerOf: (token: Pick<Token, 'asset' | 'network'>) => string | null;
}

/** Reads the payment if the selector matches it. Never asks a chain. */
export async function readPaymentDetails(app: App, selector: PaymentSelector): Promise<SeenPayment | null> {
  const details = await findPaymentDetails(app.db, selector.id);
  if (details === null || !selects(selector, details.payment)) return null;
  const { payment, transfers, addresses, quotes } = details;
  const rail = app.railFor(payment.mode);
  const policy = (await policiesOf(app, app.db, [payment]))(payment);
  const can = possibleActions(payment, details, app.clock(), policy);
  const shown = <Placed extends { readonly network: Parameters<typeof shownAddress>[0]; readonly address: string }>(
    one: Placed,
  ): Placed => ({ ...one, address: shownAddress(one.network, one.address) });
  return {
    ...details,
    // The sandbox's made-up addresses have only one form.
    ...(payment.mode === 'test'
      ? {}
      : { transfers: transfers.map(shown), addresses: addresses.map(shown), quotes: quotes.map(shown) }),
    confirmations: await rail.confirmations(payment),
    can: { ...can, accept: can.accept && !(await countsAsPart(app.db, payment)) },
    refundable: refundableMoney(payment, transfers, details.taken),
    irregularPayouts: details.refunds.length > 0 ? await irregularPayouts(app, payment.id) : [],
    explorerOf: (token) => explorerOf(rail, token),
  };
}
