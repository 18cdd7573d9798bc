import { Type, type Static } from 'typebox';
import { ASSET_CODES } from '../../../domain/asset.ts';
import { NETWORKS } from '../../../domain/networks.ts';
import { EXCEPTIONS, SURFACES } from '../../../domain/payment.ts';
import { SIMULATIONS } from '../../../domain/simulation.ts';
import { PAYMENT_STATUSES } from '../../../domain/status.ts';
import { oneOf } from '../../fields.ts';
import { nullable, time } from '../../shapes.ts';
import type { Contracts } from './route.ts';
import { paymentFilters } from './payment-filters.ts';
import { keysetQuery, modeParams, modeShape } from './shape.ts';

/** Ids are as the API of the payment writes them: `ord_…` or a UUID. Amounts are decimal texts. */

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
  surface: oneOf(SURFACES),
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

/** Of the current quote, in `asset`. */
const moneyShape = Type.Object({
  asset,
  network,
  expected: Type.String(),
  /** So much less than expected still counts as paid, and so much more as exact. */
  tolerance: Type.String(),
  /** All that was seen, in blocks or not. */
  received: Type.String(),
  confirmed: Type.String(),
  /** What is missing from `expected`, and what came beyond it; "0" where nothing is. */
  missing: Type.String(),
  excess: Type.String(),
  /** Given back or promised back by refunds. */
  refunded: Type.String(),
  /** One whole unit of the asset in the payment's currency, as it was quoted. */
  rate: Type.String(),
  rate_locked_at: time(),
});

/** Where a block explorer shows it; null in test mode, on test chains, and where there is nothing to show. */
const explorerUrl = nullable(Type.String());

const addressShape = Type.Object({
  address: Type.String(),
  explorer_url: explorerUrl,
  network,
  /** What it was first quoted in. */
  asset,
  expected: Type.String(),
  /** Its number in the merchant's wallet; null in test mode. */
  wallet_index: nullable(Type.Integer()),
  issued_at: time(),
  /** Until when money on it is looked for at every block; null in test mode. */
  watched_until: nullable(time()),
  is_current: Type.Boolean(),
});

const transferShape = Type.Object({
  /** Null where no node could show which transaction brought the money. */
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

const refundShape = Type.Object({
  id: Type.String(),
  status: oneOf(['pending', 'completed', 'failed']),
  amount: Type.String(),
  currency: Type.String(),
  asset: Type.String(),
  network: Type.String(),
  crypto_amount: Type.String(),
  address: nullable(Type.String()),
  reason: nullable(Type.String()),
  failure_reason: nullable(Type.String()),
  transaction_hash: nullable(Type.String()),
  explorer_url: explorerUrl,
  created_at: time(),
  completed_at: nullable(time()),
});

const attemptShape = Type.Object({
  at: time(),
  /** Sent again by hand. */
  manual: Type.Boolean(),
  duration_ms: Type.Integer(),
  /** The HTTP status of the answer; null where none came. */
  status: nullable(Type.Integer()),
  /** Why no answer came, for people; null for those who may not see webhooks. */
  error: nullable(Type.String()),
});

const deliveryShape = Type.Object({
  id: Type.String(),
  /** Null for those who may not see webhooks. */
  url: nullable(Type.String()),
  state: oneOf(['waiting', 'delivered', 'failed', 'stopped']),
  next_attempt_at: nullable(time()),
  attempts: Type.Array(attemptShape),
});

/** What happened to a payment, the oldest first. */
const timelineEntry = Type.Union([
  /** `from` null: it was created. `cause` is a word of the state machine, such as `money`, `deadline`, `cancelled`. */
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
    /** One for each endpoint that asked for it. Those of long ago are forgotten. */
    deliveries: Type.Array(deliveryShape),
  }),
  Type.Object({ kind: Type.Literal('refund'), at: time(), refund: refundShape }),
  /** Done by somebody in the dashboard: a word of the audit log such as `payment.cancel`, and who it was. */
  Type.Object({ kind: Type.Literal('action'), at: time(), action: Type.String(), by: Type.String() }),
]);
export type TimelineEntry = Static<typeof timelineEntry>;

const actionsShape = Type.Object({
  complete: Type.Boolean(),
  cancel: Type.Boolean(),
  accept: Type.Boolean(),
  simulate: Type.Array(oneOf(SIMULATIONS)),
});

const paymentShape = Type.Object({
  ...row,
  failure_reason: nullable(oneOf(['underpaid', 'unconfirmed'])),
  customer_name: nullable(Type.String()),
  /** As the merchant gave it. */
  metadata: Type.Record(Type.String(), Type.String()),
  success_url: nullable(Type.String()),
  cancel_url: nullable(Type.String()),
  payment_url: Type.String(),
  cancelled_at: nullable(time()),
  /** When a test payment completes by itself. */
  completes_at: nullable(time()),
  address: nullable(Type.String()),
  /** Null where they are not counted. */
  confirmations: nullable(Type.Object({ have: Type.Integer(), need: Type.Integer() })),
  /** Null until a token is chosen. */
  money: nullable(moneyShape),
  /** Every address that was ever issued, the newest first. */
  addresses: Type.Array(addressShape),
  transfers: Type.Array(transferShape),
  refunds: Type.Array(refundShape),
  /** The key with which the request that made it can be sent again safely; null without one, and after a day. */
  idempotency_key: nullable(Type.String()),
  timeline: Type.Array(timelineEntry),
  /** What can be done to it now, by this person. */
  can: actionsShape,
});
export type PaymentView = Static<typeof paymentShape>;

/** What an action brought about. */
const consequencesShape = Type.Object({
  from: oneOf(PAYMENT_STATUSES),
  to: oneOf(PAYMENT_STATUSES),
  exception: oneOf(EXCEPTIONS),
  /** Events that the merchant's system is told of, in their order. */
  events: Type.Array(Type.String()),
  /** To how many endpoints in all they are sent. */
  deliveries: Type.Integer(),
});
export type Consequences = Static<typeof consequencesShape>;

const paymentParams = Type.Object({ project: Type.String(), mode: Type.String(), payment: Type.String() });
const changed = {
  params: paymentParams,
  answer: Type.Object({ payment: paymentShape, consequences: consequencesShape }),
};

export const paymentsContract = {
  /** Both APIs' payments, the newest first. A filter that is left out does not narrow. */
  'GET /dashboard/api/projects/:project/:mode/payments': {
    params: modeParams,
    query: Type.Object({ ...keysetQuery, ...paymentFilters }),
    answer: Type.Object({ data: Type.Array(paymentRowShape), next: nullable(Type.String()) }),
  },
  'GET /dashboard/api/projects/:project/:mode/payments/:payment': { params: paymentParams, answer: paymentShape },
  /** Test payments only, as simulate is. */
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/complete': changed,
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/cancel': changed,
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/accept': changed,
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/simulate': {
    ...changed,
    body: Type.Object({ outcome: oneOf(SIMULATIONS) }),
  },
} as const satisfies Contracts;
