import { matchingAddress, shownAddress } from '../../rails/address.ts';
import { withFirstToken } from '../../domain/creation.ts';
import { NETWORKS, requiredConfirmations, type Network } from '../../domain/networks.ts';
import type { Fiat } from '../../domain/money.ts';
import { blankPayment, type Payment, type Quote } from '../../domain/payment.ts';
import { nextDueAt } from '../../domain/transition.ts';
import { lockCursor } from '../../store/chains/chain.ts';
import { confirmTransfers } from '../../store/payments/transfers.ts';
import type { Trx } from '../../store/database.ts';
import {
  bookLostTransfers,
  lostTransfers,
  projectsOfWallet,
  type LostTransfer,
} from '../../store/chains/lost-transfers.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { saveChanges, type IssuedAddress } from '../../store/payments/save-changes.ts';
import { saveTransfers } from '../../store/payments/transfers.ts';
import { observeMoney } from '../payments/chain-money.ts';
import { newId, type App } from '../context.ts';
import { paymentEvents } from '../events.ts';
import { decimalsOf } from './lost-money.ts';
import { inTransaction, emitAfterCommit } from '../in-transaction.ts';
import { rejected, type Rejected } from '../rejected.ts';
import { policiesOf } from '../payments/payment-policy.ts';
import { priceInUsd } from '../payments/quote-payment.ts';
import { receiptPrices } from '../payments/receipt-prices.ts';

/** The operator's statement about money on an address that a restore lost. */
export interface Booking {
  /** The address in the form that customers see. */
  readonly address: string;
  readonly amountMinor: bigint;
  readonly currency: Fiat;
  /** The merchant's own reference for the order. */
  readonly merchantOrderId: string | null;
  /** The project that gets the payment; required only if several projects share the wallet. */
  readonly projectId: string | null;
}

/** How long an order created today would stay open. */
const LIFETIME_MS = 30 * 60_000;

/**
 * Creates a payment for money on an address that was handed out in the hours a restore lost: an order of the amount
 * named by the operator that owes exactly `received`. From then on it is a payment like any other, with its events.
 */
export async function bookLost(
  app: App,
  booking: Booking,
): Promise<
  { readonly kind: 'done'; readonly payment: Payment; readonly received: readonly LostTransfer[] } | Rejected
> {
  return inTransaction(app, async (trx) => {
    const [found] = await lostOn(trx, booking.address);
    // Only one process at a time writes a network's transfers.
    const cursor = found === undefined ? null : await lockCursor(trx, found.network);
    // Another process may have booked it while this one waited for the lock.
    const lost = found === undefined ? [] : await lockedLost(trx, found);
    const [first] = lost;
    if (first === undefined) return rejected('no_lost_money', { address: booking.address });
    const { network, asset, addressIndex } = first;
    const owner = await ownerOf(trx, first, booking.projectId);
    if (owner.kind === 'rejected') return owner;
    const { projectId, walletId } = owner;
    const rail = app.railFor('live');
    const amountUsdCents = priceInUsd(rail, booking.amountMinor, booking.currency);
    if (amountUsdCents === null) return rejected('no_price', { currency: booking.currency });
    const now = app.clock();
    const quote: Quote = {
      asset,
      network,
      decimals: decimalsOf(app, first),
      owedUnits: lost.reduce((sum, one) => sum + (one.asset === asset ? one.amountUnits : 0n), 0n),
      toleranceUnits: 0n,
      address: shownAddress(network, first.address),
    };
    const draft = draftOf(app, { ...booking, projectId, amountUsdCents, quote, now });
    const { payment, events } = paymentEvents(app, draft, ['created'], now);
    const policy = (await policiesOf(app, trx, [payment]))(payment);
    const address: IssuedAddress = {
      paymentId: payment.id,
      quote,
      watchedAddress: first.address,
      walletId,
      index: addressIndex,
      confirmations: owner.confirmations ?? requiredConfirmations(network, amountUsdCents),
      afterBlock: null,
      issuedAt: now,
      watchUntil: payment.expiresAt + policy.monitoringMs,
    };
    const dueAt = nextDueAt(payment, policy);
    const change = { before: null, after: payment, dueAt, transitions: [], events, address };
    await saveChanges(trx, [change], 2);
    emitAfterCommit(trx, { kind: 'payments_created', changes: [change] });
    await saveTransfers(
      trx,
      lost.map((one) => transferOf(one, payment.id)),
      receiptPrices(rail, now),
    );
    await bookLostTransfers(trx, network, first.address, payment.id);
    const confirmed = cursor === null ? [] : await confirmTransfers(trx, network, cursor.height);
    await observeMoney(app, trx, [payment.id, ...confirmed.map(({ paymentId }) => paymentId)], now, confirmed);
    const [booked] = await findPayments(trx, [payment.id]);
    return { kind: 'done', payment: booked ?? payment, received: lost };
  });
}

async function lockedLost(trx: Trx, { network, address }: LostTransfer): Promise<readonly LostTransfer[]> {
  return (await lostTransfers(trx, { address, isLocked: true })).filter((one) => one.network === network);
}

/** The lost money on an address, in any notation of the address. */
async function lostOn(trx: Trx, text: string): Promise<readonly LostTransfer[]> {
  const address = text.trim();
  const forms = new Set([address, ...NETWORKS.flatMap((network) => formOn(network, address))]);
  for (const form of forms) {
    const lost = await lostTransfers(trx, { address: form });
    const [first] = lost;
    if (first !== undefined) return lost.filter(({ network }) => network === first.network);
  }
  return [];
}

function formOn(network: Network, address: string): readonly string[] {
  try {
    return [matchingAddress(network, address)];
  } catch {
    return [];
  }
}

async function ownerOf(trx: Trx, { network, firstAddress }: LostTransfer, projectId: string | null) {
  const owners = await projectsOfWallet(trx, network, firstAddress);
  const owner = projectId === null ? owners[0] : owners.find((one) => one.projectId === projectId);
  if (owner === undefined) return rejected('not_its_wallet', { network, project: projectId ?? '' });
  if (projectId === null && owners.length > 1) {
    return rejected('shared_wallet', { projects: owners.map((one) => one.projectId).join(', ') });
  }
  return { kind: 'owner' as const, ...owner };
}

function draftOf(
  app: App,
  {
    projectId,
    amountMinor,
    amountUsdCents,
    currency,
    merchantOrderId,
    quote,
    now,
  }: Booking & {
    readonly projectId: string;
    readonly amountUsdCents: bigint;
    readonly quote: Quote;
    readonly now: number;
  },
): Payment {
  const blank = blankPayment({
    id: newId(app, now),
    projectId,
    mode: 'live',
    api: 'order',
    amountMinor,
    currency,
    amountUsdCents,
    merchantOrderId,
    createdAt: now,
    expiresAt: now + LIFETIME_MS,
  });
  return withFirstToken(blank, quote);
}

function transferOf(one: LostTransfer, paymentId: string): Parameters<typeof saveTransfers>[1][number] {
  return {
    paymentId,
    blockHash: one.blockHash,
    transfer: {
      network: one.network,
      transactionHash: one.transactionHash,
      index: one.outputIndex,
      address: one.address,
      asset: one.asset,
      amountUnits: one.amountUnits,
      firstSeenAt: one.foundAt,
      blockAt: one.blockAt,
      blockHeight: one.blockHeight,
      blockPosition: one.blockPosition,
      state: 'mined',
    },
  };
}
