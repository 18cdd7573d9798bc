import type { Network } from '../../domain/networks.ts';
import {
  inTimeUntil,
  requiredUnits,
  type Received,
  type Payment,
  type Quote,
  type Transfer,
} from '../../domain/payment.ts';
import { sumTransfers } from '../../domain/sum-transfers.ts';
import { nextDueAt, type Observation, type PaymentPolicy } from '../../domain/transition.ts';
import type { ChainBlock, ChainTransfer } from '../../rails/chain.ts';
import { matchingAddress, shownAddress } from '../../rails/address.ts';
import { findWatched } from '../../store/wallets/watched-addresses.ts';
import { type ConfirmedTransfer, findTransfers, type PaymentTransfer } from '../../store/payments/transfers.ts';
import { issuedQuotes, type IssuedQuote, saveChanges, type PaymentChange } from '../../store/payments/save-changes.ts';
import { lockPayments } from '../../store/payments/payments.ts';
import { observe } from './change-payment.ts';
import { withMessages } from './shop-messages.ts';
import { withWrongAssets } from './wrong-assets.ts';
import { policiesOf } from './payment-policy.ts';
import type { App } from '../context.ts';
import { emitAfterCommit, type ObservedTrx } from '../in-transaction.ts';

/** A transfer with its block, and its payment if that is already known. */
export interface FoundTransfer {
  readonly block: ChainBlock;
  readonly transfer: ChainTransfer;
  readonly paymentId?: string;
}

/**
 * The payments that watch the addresses of these transfers, by address: one indexed query, however many addresses there
 * are.
 */
export async function paymentsWatching(
  app: Pick<App, 'db'>,
  network: Network,
  transfers: readonly ChainTransfer[],
): Promise<ReadonlyMap<string, string>> {
  const addresses = [...new Set(transfers.map((transfer) => transfer.address))];
  const rows = await findWatched(app.db, network, addresses);
  return new Map(rows.map((row) => [row.address, row.payment_id]));
}

/** Each transfer once, in case a node lists one twice. */
export function distinct(transfers: readonly ChainTransfer[]): readonly ChainTransfer[] {
  return [...new Map(transfers.map((one) => [`${one.transactionHash} ${one.asset} ${one.index}`, one])).values()];
}

/** The record of a transfer to a payment; `block` is null for a mempool transaction. */
export function arrival(
  network: Network,
  block: ChainBlock | null,
  transfer: ChainTransfer,
  paymentId: string | undefined,
  now: number,
): readonly PaymentTransfer[] {
  if (paymentId === undefined) return [];
  const seen: Transfer = {
    network,
    transactionHash: transfer.transactionHash,
    index: transfer.index,
    address: transfer.address,
    asset: transfer.asset,
    amountUnits: transfer.amount,
    firstSeenAt: now,
    blockAt: block?.timeMs ?? null,
    blockHeight: block?.height ?? null,
    blockPosition: block === null ? null : positionIn(block, transfer),
    state: block === null ? 'seen' : 'mined',
  };
  return [{ paymentId, transfer: seen, blockHash: block?.hash ?? null }];
}

/** The transfer's position in the block's list; null for transfers by contracts, which no block lists. */
function positionIn({ transfers }: ChainBlock, { transactionHash, asset, index }: ChainTransfer): number | null {
  const position = transfers.findIndex(
    (each) => each.index === index && each.asset === asset && each.transactionHash === transactionHash,
  );
  return position < 0 ? null : position;
}

/**
 * Adds up what the payments' addresses hold now and applies the transitions that follow. If a transfer in `confirmed`
 * is in a token that its payment was never quoted in, an event reports it.
 */
export async function observeMoney(
  app: App,
  trx: ObservedTrx,
  touched: readonly string[],
  now: number,
  confirmed: readonly ConfirmedTransfer[] = [],
): Promise<void> {
  if (touched.length === 0) return;
  const paymentIds = [...new Set(touched)];
  const payments = await lockPayments(trx, paymentIds);
  const transfers = await findTransfers(trx, paymentIds);
  const quotes = Map.groupBy(await issuedQuotes(trx, paymentIds), (quote) => quote.paymentId);
  const policyOf = await policiesOf(app, trx, payments);
  const changes: PaymentChange[] = [];
  for (const payment of payments) {
    const policy = policyOf(payment);
    const itsQuotes = quotes.get(payment.id) ?? [];
    const observationsOf = (current: Payment) => moneyOf(current, transfers.get(payment.id) ?? [], itsQuotes);
    const result = observeInTurn(app, payment, observationsOf, { now, policy });
    const change = result.kind === 'observed' && result.moved ? result.change : null;
    const wrong = confirmed.filter((one) => one.paymentId === payment.id && isOfNoQuote(one, itsQuotes));
    if (wrong.length > 0) changes.push(withWrongAssets(app, change ?? unchanged(payment, policy), wrong, now));
    else if (change !== null) changes.push(change);
  }
  if (changes.length > 0) await saveChanges(trx, await withMessages(app, trx, changes, now), 2);
  for (const change of changes) emitAfterCommit(trx, { kind: 'payment_changed', change, requestId: null });
}

/**
 * Applies the observations in order. When the current quote loses its money, a grace period starts in which that quote
 * may still complete the payment: money on an earlier quote then no longer counts, and its refusal must not undo the
 * completion. Otherwise money on an earlier quote is judged by the grace period too.
 */
function observeInTurn(
  app: App,
  payment: Payment,
  observationsOf: (payment: Payment) => readonly Observation[],
  at: { readonly now: number; readonly policy: PaymentPolicy },
) {
  const observations = observationsOf(payment);
  const current = observations.slice(0, 1);
  const first = observe(app, payment, current, at);
  if (first.kind === 'refused' || observations.length === 1) return first;
  const both = observe(app, payment, [...current, ...observationsOf(first.change.after).slice(-1)], at);
  return both.kind === 'refused' ? first : both;
}

/** Both addresses and quotes have the form that the chain's transfers carry. */
function isOfNoQuote({ network, asset, address }: ConfirmedTransfer, quotes: readonly IssuedQuote[]): boolean {
  return !quotes.some((quote) => quote.network === network && quote.asset === asset && quote.address === address);
}

function unchanged(payment: Payment, policy: PaymentPolicy): PaymentChange {
  return { before: payment, after: payment, dueAt: nextDueAt(payment, policy), transitions: [], events: [] };
}

/**
 * Observations of the money on the current quote, and on the earlier quote with money that is closest to being paid:
 * first in full and in time, then in full, then at all; of equals the newest. The current quote comes first, so that
 * its loss is observed before the earlier quote counts again.
 */
export function moneyOf(
  payment: Payment,
  transfers: readonly Transfer[],
  quotes: readonly IssuedQuote[],
): readonly Observation[] {
  if (payment.quote === null) return [];
  const holds = ({ network, asset, address }: Pick<Quote, 'network' | 'asset' | 'address'>): boolean =>
    transfers.some(
      (transfer) =>
        transfer.state !== 'dropped' &&
        transfer.network === network &&
        transfer.asset === asset &&
        transfer.address === matchingAddress(network, address),
    );
  const { completedOnUnits } = payment;
  const view = (quote: Quote, paysUnits?: bigint) =>
    ({ kind: 'money', received: sumTransfers(quote, transfers, inTimeUntil(payment), paysUnits), quote }) as const;
  // The quote that completed a payment remains its measure.
  if (completedOnUnits !== null) return [view(payment.quote, completedOnUnits)];
  const current = view(payment.quote);
  const nearness = holds(payment.quote) ? nearnessOf(current) : 0;
  const [earlier] = quotes
    .filter(holds)
    .map((quote) => view(quoteOf(quote)))
    .filter((other) => nearnessOf(other) > nearness)
    .toSorted((a, b) => nearnessOf(b) - nearnessOf(a));
  if (earlier === undefined) return [current];
  return payment.received.all.seenUnits === 0n ? [earlier] : [current, earlier];
}

function nearnessOf({ received, quote }: { readonly received: Received; readonly quote: Quote }): number {
  const required = requiredUnits(quote);
  if (received.inTime.seenUnits >= required) return 3;
  return received.all.seenUnits >= required ? 2 : 1;
}

function quoteOf({ asset, network, decimals, owedUnits, toleranceUnits, address }: IssuedQuote): Quote {
  return { asset, network, decimals, owedUnits, toleranceUnits, address: shownAddress(network, address) };
}
