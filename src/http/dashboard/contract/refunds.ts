import { Type, type Static } from 'typebox';
import { oneOf } from '../../fields.ts';
import { nullable, time } from '../../shapes.ts';
import { explorerUrl } from './shape.ts';

export const refundShape = Type.Object({
  id: Type.String(),
  status: oneOf(['pending', 'completed', 'failed']),
  amount: Type.String(),
  currency: Type.String(),
  asset: Type.String(),
  network: Type.String(),
  crypto_amount: Type.String(),
  address: nullable(Type.String()),
  /** The page on which the customer says where the money goes; null once that is known. */
  claim_url: nullable(Type.String()),
  reason: nullable(Type.String()),
  failure_reason: nullable(Type.String()),
  transaction_hash: nullable(Type.String()),
  explorer_url: explorerUrl,
  created_at: time(),
  completed_at: nullable(time()),
  /** By this person, now. `sign`: there is something to sign for it, unless the route says otherwise. */
  can: Type.Object({ sign: Type.Boolean(), cancel: Type.Boolean() }),
});
export type RefundView = Static<typeof refundShape>;

/** What can be given back in one token, in `asset`. */
export const refundableShape = Type.Object({
  asset: Type.String(),
  network: Type.String(),
  decimals: Type.Integer(),
  confirmed: Type.String(),
  /** Given or promised back. */
  refunded: Type.String(),
  left: Type.String(),
  /** The same in the payment's currency, at its rate; null in a token that it was not quoted in. */
  left_amount: nullable(Type.String()),
  /** How much of it came beyond what was owed; null where nothing did. */
  excess: nullable(Type.String()),
  excess_amount: nullable(Type.String()),
});
export type RefundableView = Static<typeof refundableShape>;

/** Where this person may refund to: any address, one that the customer gives on the claim page, or nowhere. */
export const REFUND_TARGETS = ['any', 'claimed', 'none'] as const;
