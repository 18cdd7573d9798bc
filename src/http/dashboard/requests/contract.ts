import { Type, type Static } from 'typebox';
import { oneOf, text, nullable, time } from '../../fields.ts';
import { type Contracts, idField, modeParams, keysetQuery, createdFilters } from '../contract-parts.ts';

/** The outcome of a call: refused ones were answered with 400 or above. */
export const OUTCOMES = ['refused', 'accepted'] as const;
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const requestShape = Type.Object({
  id: Type.String(),
  at: time(),
  /** The id in `x-request-id`. */
  request_id: Type.String(),
  method: Type.String(),
  /** The path without the query. */
  path: Type.String(),
  status: Type.Integer(),
  duration_ms: Type.Integer(),
  key: Type.Object({ id: Type.String(), name: nullable(Type.String()) }),
  /** The client's address; null for public keys, which customers use, like `user_agent`. */
  client: nullable(Type.String()),
  user_agent: nullable(Type.String()),
  /** The error in its answer. */
  error: nullable(Type.Object({ type: Type.String(), param: nullable(Type.String()), message: Type.String() })),
});
export type RequestView = Static<typeof requestShape>;

const REQUESTS = '/dashboard/api/projects/:project/:mode/requests';

export const requestsContract = {
  /** Calls of the APIs of the last 30 days: all refused and changing ones, and some of the reads. */
  [`GET ${REQUESTS}`]: {
    params: modeParams,
    query: Type.Object({
      ...keysetQuery,
      outcome: Type.Optional(oneOf(OUTCOMES)),
      method: Type.Optional(oneOf(METHODS)),
      /** A prefix of the path. */
      path: Type.Optional(text({ max: 300 })),
      status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
      key: Type.Optional(text({ max: 64 })),
      request_id: Type.Optional(text({ max: 128 })),
      ...createdFilters,
    }),
    answer: Type.Object({
      data: Type.Array(requestShape),
      next: nullable(Type.String()),
      /** The project's keys of this mode, to filter by. */
      keys: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
    }),
  },
  [`GET ${REQUESTS}/:request`]: {
    params: Type.Object({ ...modeParams.properties, request: idField }),
    answer: requestShape,
  },
} as const satisfies Contracts;
