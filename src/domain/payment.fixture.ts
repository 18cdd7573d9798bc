import {
  blankPayment,
  NO_MONEY,
  inTimeUntil,
  type Received,
  type Payment,
  type Quote,
  type Transfer,
} from './payment.ts';
import { sumTransfers } from './sum-transfers.ts';
import { transition, type Transition, type Observation } from './transition.ts';
import type { PaymentStep } from './event-type.ts';

/** The domain's tests start from a live order of 100.00 USD for 0.05 ETH, created at `CREATED_AT`. */

export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;
export const CREATED_AT = Date.UTC(2026, 0, 15, 12);
export const EXPIRES_AT = CREATED_AT + 30 * MINUTE_MS;
export const OWED_UNITS = 50_000_000_000_000_000n;

export const ETH_QUOTE: Quote = {
  asset: 'ETH',
  network: 'ethereum',
  decimals: 18,
  owedUnits: OWED_UNITS,
  toleranceUnits: 10_000_000_000_000n,
  address: '0xaaaa',
};

export const BTC_QUOTE: Quote = {
  asset: 'BTC',
  network: 'bitcoin',
  decimals: 8,
  owedUnits: 166_667n,
  toleranceUnits: 0n,
  address: 'bc1qbbbb',
};

/** A newly created payment: `pending` with its quote, unless overridden. */
export function paymentWith(facts: Partial<Payment> = {}): Payment {
  return blankPayment({
    id: '019bbf3a-0000-7000-8000-000000000001',
    projectId: '019bbf3a-0000-7000-8000-000000000002',
    mode: 'live',
    api: 'order',
    status: 'pending',
    amountMinor: 10_000n,
    currency: 'USD',
    amountUsdCents: 10_000n,
    quote: ETH_QUOTE,
    createdAt: CREATED_AT,
    expiresAt: EXPIRES_AT,
    lastSequence: 1,
    ...facts,
  });
}

/** A transfer to the ETH quote's address, first seen a minute after creation and in no block. */
export function transferWith(facts: Partial<Transfer> = {}): Transfer {
  return {
    network: ETH_QUOTE.network,
    transactionHash: '0x01',
    index: 0,
    address: ETH_QUOTE.address,
    asset: ETH_QUOTE.asset,
    amountUnits: OWED_UNITS,
    firstSeenAt: CREATED_AT + MINUTE_MS,
    blockAt: null,
    blockHeight: null,
    blockPosition: null,
    state: 'seen',
    ...facts,
  };
}

/** A rail's observation of these transfers for the payment's current quote. */
export function money(payment: Payment, ...transfers: readonly Transfer[]): Observation {
  const received = payment.quote === null ? NO_MONEY : sumTransfers(payment.quote, transfers, inTimeUntil(payment));
  return { kind: 'money', received };
}

interface Walked {
  readonly payment: Payment;
  readonly transitions: readonly Transition[];
  readonly steps: readonly PaymentStep[];
  /** The statuses passed through, including the first: `pending > processing`. */
  readonly path: string;
}

/** Applies an observation that must change the payment. */
export function walked(payment: Payment, observation: Observation, now: number): Walked {
  const result = transition(payment, observation, now);
  if (result.kind !== 'changed') throw new Error(`${observation.kind} was ${JSON.stringify(result)}, not a change`);
  const { transitions, steps } = result;
  return {
    payment: result.payment,
    transitions,
    steps,
    path: [payment.status, ...transitions.map((transition) => transition.to)].join(' > '),
  };
}

/** Applies a rail's view of these transfers, which must change the payment. */
export function observed(payment: Payment, now: number, ...transfers: readonly Transfer[]): Walked {
  return walked(payment, money(payment, ...transfers), now);
}

/** Times: while the payment is open, and a minute after it expired. */
export const NOW = CREATED_AT + 2 * MINUTE_MS;
export const AFTER = EXPIRES_AT + MINUTE_MS;

/** The whole amount, in the states of its life. */
export const seen = transferWith();
export const mined = transferWith({ state: 'mined', blockAt: NOW });
export const confirmed = transferWith({ state: 'confirmed', blockAt: NOW });
export const dropped = transferWith({ state: 'dropped' });
/** Half the amount, confirmed. */
export const part = transferWith({ amountUnits: OWED_UNITS / 2n, state: 'confirmed' });
/** The whole amount, confirmed, but a minute after expiry. */
export const late = transferWith({ transactionHash: '0x02', firstSeenAt: AFTER, state: 'confirmed', blockAt: AFTER });

export const choice: Observation = { kind: 'token_chosen', quote: ETH_QUOTE, changes: 0 };
export const otherChoice: Observation = { kind: 'token_chosen', quote: BTC_QUOTE, changes: 0 };
export const cancel: Observation = { kind: 'cancelled' };
export const accept: Observation = { kind: 'accepted', refundedUnits: 0n };
export const byHand: Observation = { kind: 'deadline', seenUpTo: 'by_hand' };
export const settled: Observation = { kind: 'settled', quote: ETH_QUOTE, received: receivedOf(confirmed) };

/** The deadline, on a rail that has seen everything up to `seenUpTo`. */
export function deadline(seenUpTo: number): Observation {
  return { kind: 'deadline', seenUpTo };
}

/** The money of these transfers on the ETH quote, in time until expiry. */
export function receivedOf(...transfers: readonly Transfer[]): Received {
  return sumTransfers(ETH_QUOTE, transfers, EXPIRES_AT);
}

/** A payment in each status, reached by observations. */
const pending = paymentWith();
const underpaid = observed(pending, NOW, part).payment;
export const payments = {
  created: paymentWith({ status: 'created', api: 'transaction', quote: null }),
  prepared: paymentWith({ status: 'prepared' }),
  pending,
  underpaid,
  processing: observed(pending, NOW, seen).payment,
  confirming: observed(pending, NOW, mined).payment,
  completed: observed(pending, NOW, confirmed).payment,
  failed: walked(underpaid, deadline(AFTER), AFTER).payment,
  expired: walked(pending, deadline(AFTER), AFTER).payment,
  cancelled: walked(pending, cancel, NOW).payment,
};
