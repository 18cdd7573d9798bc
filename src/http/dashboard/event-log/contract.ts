import { Type, type Static } from 'typebox';
import { STORED_EVENT_TYPES } from '../../../domain/shop-message.ts';
import { oneOf, text, nullable, time } from '../../fields.ts';
import { eventPayment } from '../deliveries/contract.ts';
import { type Contracts, idField, modeParams, keysetQuery, createdFilters, requestField } from '../contract-parts.ts';

const row = {
  id: Type.String(),
  type: oneOf(STORED_EVENT_TYPES),
  created_at: time(),
  ...eventPayment,
};
const position = Type.Integer();
const rowShape = Type.Object({
  ...row,
  /** Null: a message to shops' plugins, which is not in the log. */
  position: nullable(position),
  /** The number of its deliveries, until they are deleted after 90 days, and how many of them arrived. */
  deliveries: Type.Integer(),
  delivered: Type.Integer(),
});
export type EventRowView = Static<typeof rowShape>;

/** The positions from `from` to its own, whose events are unknown. */
const gapShape = Type.Object({
  id: Type.String(),
  position,
  gap: Type.Object({ from: Type.Integer(), reason: oneOf(['restored', 'recovered']) }),
});
export type GapRowView = Static<typeof gapShape>;

const eventShape = Type.Object({
  ...row,
  /** Null for the moment before it is in the log, and for test events of webhooks. */
  position: nullable(position),
  /** The request that caused the event. */
  request_id: nullable(Type.String()),
  /** The bytes that are sent. */
  body: Type.String(),
});
export type EventView = Static<typeof eventShape>;

const EVENTS = '/dashboard/api/projects/:project/:mode/event-log';
const eventParams = Type.Object({ ...modeParams.properties, event: idField });

export const eventLogContract = {
  /** Newest position first. */
  [`GET ${EVENTS}`]: {
    params: modeParams,
    query: Type.Object({
      ...keysetQuery,
      type: Type.Optional(oneOf(STORED_EVENT_TYPES)),
      created_after: createdFilters.created_after,
      payment: Type.Optional(text({ max: 64 })),
    }),
    answer: Type.Object({
      data: Type.Array(Type.Union([rowShape, gapShape])),
      next: nullable(Type.String()),
      /** The newest position; 0 while there is none. */
      head: Type.Integer(),
    }),
  },
  [`GET ${EVENTS}/:event`]: { params: eventParams, answer: eventShape },
  /** Sends it to one endpoint, or with null to all that are on; answers with the new deliveries. */
  [`POST ${EVENTS}/:event/resend`]: {
    params: eventParams,
    body: Type.Object({ endpoint: nullable(idField), request: requestField }),
    answer: Type.Object({ deliveries: Type.Array(Type.String()) }),
  },
} as const satisfies Contracts;
