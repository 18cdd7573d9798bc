import { Type, type Static } from 'typebox';
import { SURFACES } from '../../../domain/payment.ts';
import { oneOf, text } from '../../fields.ts';

/** What several words are given as: by commas. */
const words = Type.Optional(text({ max: 200 }));
const amount = Type.Optional(text({ max: 20 }));

/** What narrows a list or an export of payments. What is left out does not narrow. */
export const paymentFilters = {
  /** By commas, as `exception`, `asset`, `network` and `currency` are. */
  status: words,
  exception: words,
  surface: Type.Optional(oneOf(SURFACES)),
  asset: words,
  network: words,
  /** Decimal texts in the payments' own currency, both included. */
  amount_min: amount,
  amount_max: amount,
  currency: words,
  /** ISO 8601, a UTC day or a time; both leave out their own moment. */
  created_after: Type.Optional(text({ max: 40 })),
  created_before: Type.Optional(text({ max: 40 })),
  /** The name of a label, in any case. */
  label: Type.Optional(text({ max: 100 })),
  /**
   * A whole id of a payment, refund or event, transaction number, order id, e-mail address, transaction hash or
   * address, or the beginning of a description.
   */
  search: Type.Optional(text({ max: 255 })),
};

const filterFields = Type.Object(paymentFilters);
export type FilterFields = Static<typeof filterFields>;
