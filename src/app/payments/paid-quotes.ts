import type { Payment, Quote, Transfer } from '../../domain/payment.ts';
import { shownAddress } from '../../rails/address.ts';
import { issuedQuotes } from '../../store/payments/save-changes.ts';
import { findTransfers } from '../../store/payments/transfers.ts';
import type { App } from '../context.ts';

/** A quote of a payment with the transfers in its token. */
export interface PaidQuote {
  readonly quote: Quote;
  readonly transfers: readonly Transfer[];
}

/** The quotes of a payment: the present one, and the newest earlier one of each other token with money. */
export async function paidQuotes({ db }: Pick<App, 'db'>, payment: Payment): Promise<readonly PaidQuote[]> {
  const { quote } = payment;
  if (quote === null) return [];
  const byToken = Map.groupBy((await findTransfers(db, [payment.id])).get(payment.id) ?? [], tokenName);
  const present = { quote, transfers: byToken.get(tokenName(quote)) ?? [] };
  byToken.delete(tokenName(quote));
  const earlier: PaidQuote[] = [];
  for (const one of byToken.size === 0 ? [] : await issuedQuotes(db, [payment.id])) {
    const transfers = byToken.get(tokenName(one));
    if (transfers === undefined) continue;
    byToken.delete(tokenName(one));
    earlier.push({ quote: { ...one, address: shownAddress(one.network, one.address) }, transfers });
  }
  return [present, ...earlier];
}

function tokenName({ asset, network }: Pick<Quote, 'asset' | 'network'>): string {
  return `${asset}/${network}`;
}
