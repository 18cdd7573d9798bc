import { Type, type Static } from 'typebox';
import { ASSET_CODES } from '../../../domain/asset-code.ts';
import { NETWORKS } from '../../../domain/networks.ts';
import { EXCEPTIONS, PAYMENT_APIS } from '../../../domain/payment.ts';
import { SIMULATIONS } from '../../../domain/simulation.ts';
import { PAYMENT_STATUSES } from '../../../domain/status.ts';
import { oneOf, text, nullable, time } from '../../fields.ts';
import { type Contracts, explorerUrl, modeShape, paymentParams } from '../contract-parts.ts';
import { REFUND_TARGETS, refundableShape, refundShape } from '../refunds/contract.ts';

/** Ids are as in the payment's API: `ord_…`, `inv_…` or a UUID. Amounts are decimal texts. */

const asset = oneOf(ASSET_CODES);
const network = oneOf(NETWORKS);

const crypto = Type.Object({
  asset,
  network,
  owed: Type.String(),
  received: Type.String(),
});

const row = {
  id: Type.String(),
  api: oneOf(PAYMENT_APIS),
  mode: modeShape,
  status: oneOf(PAYMENT_STATUSES),
  exception: oneOf(EXCEPTIONS),
  amount: Type.String(),
  currency: Type.String(),
  /** Null until a token is chosen. */
  crypto: nullable(crypto),
  transaction_number: nullable(Type.String()),
  order_id: nullable(Type.String()),
  description: nullable(Type.String()),
  customer_email: nullable(Type.String()),
  created_at: time(),
  expires_at: time(),
  completed_at: nullable(time()),
};
export const paymentRowShape = Type.Object(row);
export type PaymentRow = Static<typeof paymentRowShape>;

/** The money on the current quote, in `asset`. */
const moneyShape = Type.Object({
  asset,
  network,
  expected: Type.String(),
  /** Deviations from `expected` up to this amount still count as exact. */
  tolerance: Type.String(),
  /** All seen money, in a block or not. */
  received: Type.String(),
  confirmed: Type.String(),
  /** How far `received` is below and above `expected`; "0" if it is not. */
  missing: Type.String(),
  excess: Type.String(),
  /** The sum of completed and pending refunds: of `refunds_paid` and `refunds_pending`. */
  refunded: Type.String(),
  refunds_paid: Type.String(),
  refunds_pending: Type.String(),
  /** The roundest price of one whole unit, in the payment's currency, that asks for exactly `expected`. */
  rate: Type.String(),
  rate_locked_at: time(),
});

const addressShape = Type.Object({
  address: Type.String(),
  explorer_url: explorerUrl,
  network,
  /** The asset and amount of its first quote. */
  asset,
  expected: Type.String(),
  /** The derivation index in the merchant's wallet; null in test mode. */
  wallet_index: nullable(Type.Integer()),
  issued_at: time(),
  /** The time until which every block is searched for payments to it; null in test mode. */
  watched_until: nullable(time()),
  is_current: Type.Boolean(),
});

const transferShape = Type.Object({
  /** Null if no node could name the transaction. */
  transaction_hash: nullable(Type.String()),
  explorer_url: explorerUrl,
  address: Type.String(),
  asset: Type.String(),
  network: Type.String(),
  amount: Type.String(),
  state: oneOf(['seen', 'mined', 'confirmed', 'dropped']),
  block_height: nullable(Type.Integer()),
  seen_at: time(),
});

const attemptShape = Type.Object({
  at: time(),
  /** Whether a person sent it again. */
  manual: Type.Boolean(),
  duration_ms: Type.Integer(),
  /** The HTTP status of the answer; null if there was none. */
  status: nullable(Type.Integer()),
  /** Why there was no answer, in English; null for people who may not see webhooks. */
  error: nullable(Type.String()),
});

const deliveryShape = Type.Object({
  id: Type.String(),
  /** Null for people who may not see webhooks. */
  url: nullable(Type.String()),
  state: oneOf(['waiting', 'delivered', 'failed', 'stopped', 'overtaken']),
  next_attempt_at: nullable(time()),
  attempts: Type.Array(attemptShape),
});

export const noteShape = Type.Object({
  id: Type.String(),
  /** The author's e-mail address when the note was written. */
  author: Type.String(),
  /** The author's name as it is now. */
  author_name: nullable(Type.String()),
  text: Type.String(),
  created_at: time(),
  edited_at: nullable(time()),
  /** Sent back with an edit, which is refused if another edit came first. */
  version: Type.Integer(),
  can: Type.Object({ edit: Type.Boolean(), delete: Type.Boolean() }),
});
export type NoteView = Static<typeof noteShape>;

/** An entry of a payment's history, oldest first. */
const timelineEntry = Type.Union([
  /** `from` is null at creation. `cause` is one of the state machine's, such as `money`, `deadline` or `cancelled`. */
  Type.Object({
    kind: Type.Literal('status'),
    at: time(),
    from: nullable(oneOf(PAYMENT_STATUSES)),
    to: oneOf(PAYMENT_STATUSES),
    cause: Type.String(),
  }),
  Type.Object({ kind: Type.Literal('transfer'), at: time(), transfer: transferShape }),
  Type.Object({
    kind: Type.Literal('event'),
    at: time(),
    id: Type.String(),
    type: Type.String(),
    /** One for each subscribed endpoint, until old deliveries are purged. */
    deliveries: Type.Array(deliveryShape),
  }),
  Type.Object({
    kind: Type.Literal('refund'),
    at: time(),
    what: oneOf(['created', 'completed']),
    /** The person who created it; null if the API did, and at completion. */
    by: nullable(Type.String()),
    by_name: nullable(Type.String()),
    refund: refundShape,
  }),
  /**
   * Done by a person or an operator: an action of the audit log, such as `payment.cancel`, and their name. `detail` is
   * the label, or the amount of the refund.
   */
  Type.Object({
    kind: Type.Literal('action'),
    at: time(),
    action: Type.String(),
    by: Type.String(),
    /** The name of that person as it is now. */
    by_name: nullable(Type.String()),
    detail: nullable(Type.String()),
  }),
]);
export type TimelineEntry = Static<typeof timelineEntry>;

const actionsShape = Type.Object({
  complete: Type.Boolean(),
  cancel: Type.Boolean(),
  accept: Type.Boolean(),
  simulate: Type.Array(oneOf(SIMULATIONS)),
  advance: Type.Boolean(),
  refund: oneOf(REFUND_TARGETS),
  /** Write notes and labels. */
  annotate: Type.Boolean(),
});

export const paymentShape = Type.Object({
  ...row,
  failure_reason: nullable(oneOf(['underpaid', 'unconfirmed'])),
  customer_name: nullable(Type.String()),
  metadata: Type.Record(Type.String(), Type.String()),
  success_url: nullable(Type.String()),
  cancel_url: nullable(Type.String()),
  payment_url: Type.String(),
  /** The payment request that an invoice pays. */
  payment_request: nullable(Type.String()),
  cancelled_at: nullable(time()),
  /** When a test payment completes automatically. */
  completes_at: nullable(time()),
  address: nullable(Type.String()),
  /** Null while there are none to count. */
  confirmations: nullable(Type.Object({ have: Type.Integer(), need: Type.Integer() })),
  /** Null until a token is chosen. */
  money: nullable(moneyShape),
  /** Every address issued for the payment, newest first. */
  addresses: Type.Array(addressShape),
  transfers: Type.Array(transferShape),
  refunds: Type.Array(refundShape),
  /** One entry for each received token; empty while the payment may still change. */
  refundable: Type.Array(refundableShape),
  /** Refunds that were paid although they had failed, or more than once. */
  refund_warnings: Type.Array(
    Type.Object({
      kind: oneOf(['cancelled', 'expired', 'repeated', 'repeated_perhaps']),
      refund: Type.String(),
      transaction_hashes: Type.Array(Type.String()),
    }),
  ),
  /** Oldest first. */
  notes: Type.Array(noteShape),
  /** Sorted by name. */
  labels: Type.Array(Type.String()),
  /** The idempotency key of the request that created it; null if there was none, and after a day. */
  idempotency_key: nullable(Type.String()),
  timeline: Type.Array(timelineEntry),
  /** The actions on it that this person can take now. */
  can: actionsShape,
});
export type PaymentView = Static<typeof paymentShape>;

/** The consequences of an action. */
const consequencesShape = Type.Object({
  from: oneOf(PAYMENT_STATUSES),
  to: oneOf(PAYMENT_STATUSES),
  exception: oneOf(EXCEPTIONS),
  /** The types of the published events, in order. */
  events: Type.Array(Type.String()),
  /** The number of deliveries over all events and endpoints. */
  deliveries: Type.Integer(),
});
export type Consequences = Static<typeof consequencesShape>;

const changed = {
  params: paymentParams,
  answer: Type.Object({ payment: paymentShape, consequences: consequencesShape }),
};

/** How far a person advances the time of a test payment. */
export const ADVANCES = ['next', 'hour', 'day', 'final'] as const;

export const paymentsContract = {
  'GET /dashboard/api/projects/:project/:mode/payments/:payment': { params: paymentParams, answer: paymentShape },
  /** Only for test payments, as are `simulate` and `advance`. */
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/complete': changed,
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/cancel': changed,
  /** 409 if the amounts differ from `shown`. */
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/accept': {
    ...changed,
    body: Type.Object({
      shown: Type.Optional(Type.Object({ confirmed: text({ max: 60 }), refunded: text({ max: 60 }) })),
    }),
  },
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/simulate': {
    ...changed,
    body: Type.Object({ outcome: oneOf(SIMULATIONS) }),
  },
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/advance': {
    params: paymentParams,
    body: Type.Object({ to: oneOf(ADVANCES) }),
    /** The time that the payment has now, and how many things happened. */
    answer: Type.Object({ payment: paymentShape, now: time(), moments: Type.Integer() }),
  },
} as const satisfies Contracts;
