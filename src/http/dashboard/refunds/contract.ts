import { Type, type Static } from 'typebox';
import { ASSET_CODES } from '../../../domain/asset-code.ts';
import { NETWORKS } from '../../../domain/networks.ts';
import { REFUND_STAGES } from '../../../domain/refund-stage.ts';
import { oneOf, text, nullable, time } from '../../fields.ts';
import {
  explorerUrl,
  type Contracts,
  idField,
  modeParams,
  keysetQuery,
  writing,
  createdFilters,
} from '../contract-parts.ts';

export const refundShape = Type.Object({
  id: Type.String(),
  status: oneOf(['pending', 'completed', 'failed']),
  amount: Type.String(),
  currency: Type.String(),
  asset: Type.String(),
  network: Type.String(),
  crypto_amount: Type.String(),
  address: nullable(Type.String()),
  /** The page where the customer enters an address; null if the refund has one already. */
  claim_url: nullable(Type.String()),
  reason: nullable(Type.String()),
  failure_reason: nullable(Type.String()),
  transaction_hash: nullable(Type.String()),
  explorer_url: explorerUrl,
  created_at: time(),
  completed_at: nullable(time()),
  /** The actions on it that this person can take now. */
  can: Type.Object({ sign: Type.Boolean(), cancel: Type.Boolean() }),
});
export type RefundView = Static<typeof refundShape>;

/** The amounts that can be refunded in one token, in `asset`. */
export const refundableShape = Type.Object({
  asset: Type.String(),
  network: Type.String(),
  decimals: Type.Integer(),
  confirmed: Type.String(),
  /** The sum of completed and pending refunds. */
  refunded: Type.String(),
  left: Type.String(),
  /** `left` at the payment's rate, in its currency; null if it was not quoted in this token. */
  left_amount: nullable(Type.String()),
  /** The part of `left` that exceeds the owed amount; null if there is none. */
  excess: nullable(Type.String()),
  excess_amount: nullable(Type.String()),
});
export type RefundableView = Static<typeof refundableShape>;

/** The addresses to which this person may refund: any, only one that the customer enters on the claim page, or none. */
export const REFUND_TARGETS = ['any', 'claimed', 'none'] as const;

const listedShape = Type.Object({
  ...refundShape.properties,
  stage: oneOf(REFUND_STAGES),
  payment: Type.Object({
    /** The id in the form of the payment's API. */
    id: Type.String(),
    /** The merchant's order id, or the number of a transaction. */
    name: nullable(Type.String()),
  }),
  /** The transaction that pays it, or was sent to; null if none was seen. */
  payout: nullable(
    Type.Object({
      transaction_hash: Type.String(),
      explorer_url: explorerUrl,
      /** `waiting`: in no block; `dropped`: gone from every mempool too. */
      state: oneOf(['block', 'waiting', 'dropped']),
      /** 0 while it is in no block. */
      confirmations: Type.Integer(),
      needed: Type.Integer(),
    }),
  ),
  /** When it fails unless it is paid; null once it has ended. */
  due_at: nullable(time()),
  /** Whether one transaction can pay it together with others of its network. */
  is_joinable: Type.Boolean(),
});
export type ListedRefundView = Static<typeof listedShape>;

const filters = {
  stage: Type.Optional(oneOf(REFUND_STAGES)),
  asset: Type.Optional(oneOf(ASSET_CODES)),
  network: Type.Optional(oneOf(NETWORKS)),
  ...createdFilters,
  /**
   * A complete refund id, address or transaction hash, or any identifier of a payment: its id, number, order id,
   * e-mail, address or transaction hash.
   */
  search: Type.Optional(text({ max: 255 })),
};
const filterFields = Type.Object(filters);
export type RefundFilters = Static<typeof filterFields>;

const exportShape = Type.Object({
  ...filters,
  ...writing,
});

const REFUNDS = '/dashboard/api/projects/:project/:mode/refunds';

/** The routes of the page of refunds. */
export const refundListContract = {
  [`GET ${REFUNDS}`]: {
    params: modeParams,
    query: Type.Object({ ...keysetQuery, ...filters }),
    answer: Type.Object({ data: Type.Array(listedShape), next: nullable(Type.String()) }),
  },
  [`GET ${REFUNDS}/:refund`]: {
    params: Type.Object({ ...modeParams.properties, refund: idField }),
    answer: listedShape,
  },
  /** An export of all refunds that match the filters, newest first. 503 while no slot for exports is free. */
  [`POST ${REFUNDS}/export`]: { params: modeParams, body: exportShape, answer: Type.String() },
} as const satisfies Contracts;
