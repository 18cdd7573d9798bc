import { Type, type Static } from 'typebox';
import { STORED_EVENT_TYPES } from '../../../domain/shop-message.ts';
import { oneOf, text, nullable, time } from '../../fields.ts';
import { type Contracts, idField, modeParams, keysetQuery, createdFilters } from '../contract-parts.ts';

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed', 'stopped', 'overtaken'] as const;

/** The payment that an event is about; all null without one. */
export const eventPayment = {
  /** The payment's id in the form of its API. */
  payment: nullable(Type.String()),
  /** The merchant's order id, or the number of a transaction. */
  payment_name: nullable(Type.String()),
  /** Null also in events of refunds, whose amount may differ. */
  payment_amount: nullable(Type.Object({ amount: Type.String(), currency: Type.String() })),
};
const eventPaymentShape = Type.Object(eventPayment);
export type EventPaymentView = Static<typeof eventPaymentShape>;

const row = {
  id: Type.String(),
  endpoint: Type.String(),
  url: Type.String(),
  event: Type.String(),
  type: oneOf(STORED_EVENT_TYPES),
  state: oneOf(DELIVERY_STATES),
  ...eventPayment,
  created_at: time(),
  next_attempt_at: nullable(time()),
  /** The time of the latest attempt; null before the first. */
  attempted_at: nullable(time()),
  duration_ms: nullable(Type.Integer()),
  /** Null without an answer. */
  status: nullable(Type.Integer()),
  error_stage: nullable(Type.String()),
};
const rowShape = Type.Object(row);
export type DeliveryRowView = Static<typeof rowShape>;

const headers = Type.Record(Type.String(), Type.String());

const attemptShape = Type.Object({
  at: time(),
  manual: Type.Boolean(),
  duration_ms: Type.Integer(),
  request_headers: headers,
  /** Null without an answer. */
  status: nullable(Type.Integer()),
  response_headers: nullable(headers),
  /** The body as text; bytes that are not UTF-8 are replaced. */
  response_body: nullable(Type.String()),
  /** Whether the answer was longer than the stored part. */
  response_truncated: Type.Boolean(),
  /** The stage at which it failed without an answer, and the reason, in English. */
  error_stage: nullable(Type.String()),
  error: nullable(Type.String()),
});
export type AttemptView = Static<typeof attemptShape>;

const deliveryShape = Type.Object({
  ...row,
  endpoint_state: oneOf(['on', 'paused', 'disabled', 'deleted']),
  delivered_at: nullable(time()),
  /** The bytes that are sent. */
  body: Type.String(),
  /** Newest first, at most 20. */
  attempts: Type.Array(attemptShape),
  has_more_attempts: Type.Boolean(),
});
export type DeliveryView = Static<typeof deliveryShape>;

const filters = {
  endpoint: Type.Optional(text({ max: 64 })),
  type: Type.Optional(oneOf(STORED_EVENT_TYPES)),
  state: Type.Optional(oneOf(DELIVERY_STATES)),
  /**
   * A status code from 100 to 599, or `none` without an answer. Codes other than 2xx select only deliveries that did
   * not arrive.
   */
  status: Type.Optional(text({ max: 4 })),
  ...createdFilters,
  /** The payment's id in the form of its API. */
  payment: Type.Optional(text({ max: 64 })),
};
const filterFields = Type.Object(filters);
export type DeliveryFilters = Static<typeof filterFields>;

const retryShape = Type.Object({
  id: Type.String(),
  started_at: time(),
  stopped_at: nullable(time()),
  total: Type.Integer(),
  /** The number attempted since. */
  done: Type.Integer(),
  delivered: Type.Integer(),
});
export type RetryView = Static<typeof retryShape>;

const deliveryParams = Type.Object({ ...modeParams.properties, delivery: idField });
const retryParams = Type.Object({ ...modeParams.properties, retry: idField });

const SCOPE = '/dashboard/api/projects/:project/:mode';

export const deliveriesContract = {
  /** Deliveries to all endpoints, newest first. */
  [`GET ${SCOPE}/deliveries`]: {
    params: modeParams,
    query: Type.Object({ ...keysetQuery, ...filters }),
    answer: Type.Object({ data: Type.Array(rowShape), next: nullable(Type.String()) }),
  },
  [`GET ${SCOPE}/deliveries/:delivery`]: { params: deliveryParams, answer: deliveryShape },
  /** Makes one more attempt now; answers when it has ended. */
  [`POST ${SCOPE}/deliveries/:delivery/retry`]: { params: deliveryParams, answer: deliveryShape },
  /** Makes all deliveries that did not arrive due again, at most 10,000. */
  [`POST ${SCOPE}/delivery-retries`]: { params: modeParams, body: filterFields, answer: retryShape },
  /** The running retry. */
  [`GET ${SCOPE}/delivery-retries`]: { params: modeParams, answer: Type.Object({ running: nullable(retryShape) }) },
  [`GET ${SCOPE}/delivery-retries/:retry`]: { params: retryParams, answer: retryShape },
  [`POST ${SCOPE}/delivery-retries/:retry/stop`]: { params: retryParams, answer: retryShape },
} as const satisfies Contracts;
