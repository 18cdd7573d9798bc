import type { Token } from '../../domain/asset.ts';
import type { Confirmations } from '../../domain/payment.ts';
import { shownAddress } from '../../rails/address.ts';
import { findPaymentDetails, type PaymentDetails } from '../../store/payment-details.ts';
import type { App } from '../context.ts';
import { explorerOf } from '../explorer.ts';
import { selects, type PaymentSelector } from '../payments/change-payment.ts';
import { possibleActions, type PossibleActions } from '../payments/possible-actions.ts';

/**
 * All that is kept of a payment, addresses in the form in which people are shown them, and what can be done to it now.
 */
export interface SeenPayment extends PaymentDetails {
  /** Null where nothing is counted. */
  readonly confirmations: Confirmations | null;
  readonly can: PossibleActions;
  /** The block explorer that shows what happens to a token: null on a test chain and in the sandbox. */
  readonly explorerOf: (token: Pick<Token, 'asset' | 'network'>) => string | null;
}

/** The payment, if it is one of those that the selector means; never changes anything and asks no chain. */
export async function readPaymentDetails(app: App, selector: PaymentSelector): Promise<SeenPayment | null> {
  const details = await findPaymentDetails(app.db, selector.id);
  if (details === null || !selects(selector, details.payment)) return null;
  const { payment, transfers, addresses, quotes } = details;
  const rail = app.railFor(payment.mode);
  const shown = <Placed extends { readonly network: Parameters<typeof shownAddress>[0]; readonly address: string }>(
    one: Placed,
  ): Placed => ({ ...one, address: shownAddress(one.network, one.address) });
  return {
    ...details,
    // The sandbox's addresses are made up: they have one form.
    ...(payment.mode === 'test'
      ? {}
      : { transfers: transfers.map(shown), addresses: addresses.map(shown), quotes: quotes.map(shown) }),
    confirmations: await rail.confirmations(payment),
    can: possibleActions(payment, details, app.clock(), app.policy),
    explorerOf: (token) => explorerOf(rail, token),
  };
}
