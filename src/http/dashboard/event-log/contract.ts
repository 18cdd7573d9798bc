import { Type, type Static } from 'typebox';
import { EVENT_TYPES } from '../../../domain/event-type.ts';
import { oneOf, text, nullable, time } from '../../fields.ts';
import { eventPayment } from '../deliveries/contract.ts';
import { type Contracts, idField, modeParams, keysetQuery, createdFilters } from '../contract-parts.ts';

const row = {
  id: Type.String(),
  type: oneOf(EVENT_TYPES),
  created_at: time(),
  ...eventPayment,
};
const rowShape = Type.Object({
  ...row,
  /** The number of its deliveries, until they are deleted after 90 days, and how many of them arrived. */
  deliveries: Type.Integer(),
  delivered: Type.Integer(),
});
export type EventRowView = Static<typeof rowShape>;

const eventShape = Type.Object({
  ...row,
  /** The request that caused the event. */
  request_id: nullable(Type.String()),
  /** The bytes that are sent. */
  body: Type.String(),
});
export type EventView = Static<typeof eventShape>;

const EVENTS = '/dashboard/api/projects/:project/:mode/event-log';

export const eventLogContract = {
  [`GET ${EVENTS}`]: {
    params: modeParams,
    query: Type.Object({
      ...keysetQuery,
      type: Type.Optional(oneOf(EVENT_TYPES)),
      ...createdFilters,
      payment: Type.Optional(text({ max: 64 })),
    }),
    answer: Type.Object({ data: Type.Array(rowShape), next: nullable(Type.String()) }),
  },
  [`GET ${EVENTS}/:event`]: {
    params: Type.Object({ ...modeParams.properties, event: idField }),
    answer: eventShape,
  },
} as const satisfies Contracts;
