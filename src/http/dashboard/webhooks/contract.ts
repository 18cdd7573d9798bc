import { Type, type Static } from 'typebox';
import { STORED_EVENT_TYPES, WEBHOOK_FORMATS } from '../../../domain/shop-message.ts';
import { oneOf, text, nullable, time } from '../../fields.ts';
import { type Contracts, doneShape, idField, modeParams } from '../contract-parts.ts';

const eventType = oneOf(STORED_EVENT_TYPES);

const healthShape = Type.Object({
  /** Attempts of the newest thousand deliveries, within the last seven days. */
  attempts: Type.Integer(),
  acknowledged: Type.Integer(),
  /** The times to answer, in milliseconds; null without an answer. */
  median_ms: nullable(Type.Integer()),
  p95_ms: nullable(Type.Integer()),
  /** Counted up to 10,001. */
  waiting: Type.Integer(),
  next_attempt_at: nullable(time()),
  last_attempt_at: nullable(time()),
  /** The first failed attempt since the last that was acknowledged; null if the newest one was. */
  failing_since: nullable(time()),
});

const endpointShape = Type.Object({
  id: Type.String(),
  url: Type.String(),
  /** Null: our own events. */
  format: nullable(oneOf(WEBHOOK_FORMATS)),
  events: Type.Array(eventType),
  state: oneOf(['on', 'paused', 'disabled']),
  paused_at: nullable(time()),
  disabled_at: nullable(time()),
  disabled_reason: nullable(Type.String()),
  /** The time until which the replaced secret also signs; null if it does not. */
  previous_secret_until: nullable(time()),
  created_at: time(),
  health: healthShape,
});
export type EndpointView = Static<typeof endpointShape>;

/** The only answer that contains a secret. */
const withSecret = Type.Object({ endpoint: endpointShape, secret: Type.String() });

const endpointFields = {
  url: text({ max: 2_048, min: 1 }),
  events: Type.Array(eventType, { minItems: 1, maxItems: STORED_EVENT_TYPES.length }),
};
const endpointParams = Type.Object({ ...modeParams.properties, endpoint: idField });

const WEBHOOKS = '/dashboard/api/projects/:project/:mode/webhooks';

export const webhooksContract = {
  [`GET ${WEBHOOKS}`]: {
    params: modeParams,
    answer: Type.Object({
      /** Oldest first. */
      data: Type.Array(endpointShape),
      /** Every type of event by the format of the endpoints that get it; `documented` ones are all that it asks for. */
      events: Type.Array(
        Type.Object({ type: eventType, format: nullable(oneOf(WEBHOOK_FORMATS)), documented: Type.Boolean() }),
      ),
      /** How receivers check `x-service-signature`, in several languages. */
      checks: Type.Array(Type.Object({ name: Type.String(), code: Type.String() })),
    }),
  },
  [`POST ${WEBHOOKS}`]: {
    params: modeParams,
    body: Type.Object({ ...endpointFields, format: Type.Optional(oneOf(WEBHOOK_FORMATS)) }),
    answer: withSecret,
  },
  [`POST ${WEBHOOKS}/:endpoint`]: {
    params: endpointParams,
    body: Type.Object({
      ...endpointFields,
      /** The endpoint as the person saw it: if it differs now, nothing is saved. */
      shown: Type.Optional(Type.Object(endpointFields)),
    }),
    answer: endpointShape,
  },
  [`POST ${WEBHOOKS}/:endpoint/pause`]: { params: endpointParams, answer: endpointShape },
  /** Only for one that is paused or disabled. */
  [`POST ${WEBHOOKS}/:endpoint/enable`]: { params: endpointParams, answer: endpointShape },
  [`POST ${WEBHOOKS}/:endpoint/delete`]: { params: endpointParams, answer: doneShape },
  /** The replaced secret also signs for this many hours. */
  [`POST ${WEBHOOKS}/:endpoint/rotate`]: {
    params: endpointParams,
    body: Type.Object({ overlap_hours: Type.Integer({ minimum: 0, maximum: 168 }) }),
    answer: withSecret,
  },
  [`POST ${WEBHOOKS}/:endpoint/test`]: {
    params: endpointParams,
    body: Type.Object({ type: eventType }),
    answer: Type.Object({ delivery: Type.String() }),
  },
} as const satisfies Contracts;
