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
  /** The page where the customer enters an address; null if there is one already. */
  claim_url: nullable(Type.String()),
  reason: nullable(Type.String()),
  failure_reason: nullable(Type.String()),
  transaction_hash: nullable(Type.String()),
  explorer_url: explorerUrl,
  created_at: time(),
  completed_at: nullable(time()),
  /** What this person can do with it now. */
  can: Type.Object({ sign: Type.Boolean(), cancel: Type.Boolean() }),
});
export type RefundView = Static<typeof refundShape>;

/** What can be refunded in one token. Amounts in `asset`. */
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
  /** The part of `left` that exceeds what was owed; null if nothing does. */
  excess: nullable(Type.String()),
  excess_amount: nullable(Type.String()),
});
export type RefundableView = Static<typeof refundableShape>;

/** Where this person may refund to: any address, only one that the customer enters on the claim page, or nowhere. */
export const REFUND_TARGETS = ['any', 'claimed', 'none'] as const;
