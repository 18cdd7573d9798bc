import { Type, type Static } from 'typebox';
import { oneOf, text } from '../../fields.ts';
import { paymentRowShape } from './payments.ts';
import type { Contracts } from './route.ts';
import { modeParams, modeShape } from './shape.ts';

const FOUND_BY = [
  'id',
  'number',
  'order_id',
  'email',
  'description',
  'transaction_hash',
  'address',
  'refund',
  'event',
] as const;

const hitShape = Type.Object({ found_by: oneOf(FOUND_BY), payment: paymentRowShape });
export type SearchHit = Static<typeof hitShape>;

export const searchContract = {
  /**
   * Payments by one text, the best match first: an id, number, order id, e-mail address, transaction hash or address as
   * a whole and in any spelling, a refund's or event's id, or the beginning of a description.
   */
  'GET /dashboard/api/projects/:project/:mode/search': {
    params: modeParams,
    query: Type.Object({
      text: text({ max: 255, min: 1 }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 8 })),
    }),
    /** `mode` is the other mode if only that one has matches. */
    answer: Type.Object({ mode: modeShape, data: Type.Array(hitShape) }),
  },
  /** The words that filters can have, in the order in which people are offered them. */
  'GET /dashboard/api/filters': {
    answer: Type.Object({
      coins: Type.Array(Type.String()),
      networks: Type.Array(Type.Object({ name: Type.String(), label: Type.String() })),
      currencies: Type.Array(Type.String()),
    }),
  },
} as const satisfies Contracts;
