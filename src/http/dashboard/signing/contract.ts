import { Type, type Static } from 'typebox';
import { oneOf, text, nullable } from '../../fields.ts';
import {
  type Contracts,
  doneShape,
  explorerUrl,
  modeParams,
  walletCallShape,
  walletChainShape,
} from '../contract-parts.ts';

/** How many refunds one transaction can pay. */
const MAX_REFUNDS = 50;
/** `re_…` of pending refunds; several of one UTXO network and wallet. */
const refundIds = Type.Array(text({ max: 64, min: 1 }), { minItems: 1, maxItems: MAX_REFUNDS });

/** A refund to pay. */
const signedRefundShape = Type.Object({
  id: Type.String(),
  /** The payment's id in its API. */
  payment: Type.String(),
  asset: Type.String(),
  network: Type.String(),
  crypto_amount: Type.String(),
  amount: Type.String(),
  currency: Type.String(),
  address: nullable(Type.String()),
  /** Why it must not be paid now; null if it may. */
  problem: nullable(Type.String()),
});
export type SignedRefund = Static<typeof signedRefundShape>;

const psbtShape = Type.Object({
  /** BIP 174, in base64. */
  psbt: Type.String(),
  /** The fee in `asset`. */
  fee: Type.String(),
  change: Type.String(),
  /** Null without change. */
  change_address: nullable(Type.String()),
});

const signingShape = Type.Object({
  refunds: Type.Array(signedRefundShape),
  /** The network's name. */
  network_name: Type.String(),
  payment_uri: nullable(Type.String()),
  call: nullable(walletCallShape),
  chain: walletChainShape,
  psbt: nullable(psbtShape),
  /** Why none of them must be paid now, or why there is no PSBT. */
  problem: nullable(Type.String()),
  warnings: Type.Array(Type.String()),
  /** Other people who were shown the refund in the last 15 minutes: nobody knows whether they have sent it. */
  shown_to: Type.Array(Type.Object({ name: Type.String(), at: Type.String() })),
});
export type Signing = Static<typeof signingShape>;

const sentShape = Type.Object({
  /** `kept`: no node answered; it is sent once one does. */
  outcome: oneOf(['sent', 'kept', 'refused']),
  transaction_hash: nullable(Type.String()),
  /** Why it was refused, or is not sent yet. */
  message: nullable(Type.String()),
  /** Its differences to the shown transaction, or its missing signatures. */
  differences: Type.Array(Type.String()),
});

const progressShape = Type.Object({
  refund: Type.String(),
  status: oneOf(['pending', 'completed', 'failed']),
  transaction_hash: nullable(Type.String()),
  explorer_url: explorerUrl,
  /** The state of the transaction; null if none is known. */
  state: nullable(oneOf(['sent', 'waiting', 'block', 'dropped', 'refused'])),
  confirmations: Type.Integer(),
  needed: Type.Integer(),
  /** The node's message when it refused the transaction. */
  reason: nullable(Type.String()),
});
export type SigningProgress = Static<typeof progressShape>;

const SIGNING = '/dashboard/api/projects/:project/:mode/signing';

export const signingContract = {
  /**
   * The transaction to sign in one's own wallet for refunds; a POST because it reserves coins. 503 if no node answers.
   */
  [`POST ${SIGNING}`]: { params: modeParams, body: Type.Object({ refunds: refundIds }), answer: signingShape },
  /** Checks a signed transaction against the shown one, and sends it. */
  [`POST ${SIGNING}/send`]: {
    params: modeParams,
    // Longer texts are refused by their length, before anything is read.
    body: Type.Object({ refunds: refundIds, signed: Type.String() }),
    answer: sentShape,
  },
  /** A browser wallet has sent a transaction for a refund on an EVM chain. */
  [`POST ${SIGNING}/sent`]: {
    params: modeParams,
    body: Type.Object({
      refund: text({ max: 64, min: 1 }),
      /** `0x` and 64 hex digits in lower case. */
      transaction_hash: text({ max: 66, min: 66 }),
    }),
    answer: doneShape,
  },
  /** The progress of paying refunds; ids separated by commas. */
  [`GET ${SIGNING}/progress`]: {
    params: modeParams,
    query: Type.Object({ refunds: text({ max: 64 * MAX_REFUNDS, min: 1 }) }),
    answer: Type.Object({ data: Type.Array(progressShape) }),
  },
} as const satisfies Contracts;
