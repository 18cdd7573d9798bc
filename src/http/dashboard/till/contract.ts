import { Type, type Static } from 'typebox';
import { ASSET_CODES } from '../../../domain/asset-code.ts';
import { FIATS } from '../../../domain/money.ts';
import { NETWORKS } from '../../../domain/networks.ts';
import { EXCEPTIONS } from '../../../domain/payment.ts';
import { PAYMENT_STATUSES } from '../../../domain/status.ts';
import { TILL_DOUBTS } from '../../../domain/till.ts';
import { nullable, oneOf, text, time } from '../../fields.ts';
import { type Contracts, modeParams, paymentParams, requestField } from '../contract-parts.ts';
import { liveMessageShape } from '../live/contract.ts';

const coin = { asset: oneOf(ASSET_CODES), network: oneOf(NETWORKS) };
const coinShape = Type.Object(coin);
const namedCoin = { ...coin, /** `Polygon`. */ network_name: Type.String() };
const namedCoinShape = Type.Object(namedCoin);
export type TillCoin = Static<typeof namedCoinShape>;

/**
 * The states of a sale. `choose`: a coin has to be chosen. `waiting`: for money. `part`: some came. `seen`: all of it
 * came, and does not count as paid yet. `gone`: money that was seen, and may have counted as paid, has disappeared.
 * `ended`: nothing more is expected; `status` says why.
 */
export const SALE_STATES = ['choose', 'waiting', 'part', 'seen', 'gone', 'paid', 'ended'] as const;

/** Amounts are decimal text. */
const sale = {
  id: Type.String(),
  state: oneOf(SALE_STATES),
  status: oneOf(PAYMENT_STATUSES),
  exception: oneOf(EXCEPTIONS),
  /** The reason why the payment counts as paid; null: it does not. */
  paid_by: nullable(oneOf(['seen', 'confirmed'])),
  doubt: nullable(oneOf(TILL_DOUBTS)),
  /** With the tip. */
  amount: Type.String(),
  tip: nullable(Type.String()),
  currency: oneOf(FIATS),
  note: nullable(Type.String()),
  crypto: nullable(
    Type.Object({
      ...namedCoin,
      owed: Type.String(),
      received: Type.String(),
      /** Still to be paid. */ left: Type.String(),
    }),
  ),
  transaction_hash: nullable(Type.String()),
  created_at: time(),
  expires_at: time(),
  completed_at: nullable(time()),
};
const rowShape = Type.Object(sale);
export type SaleRow = Static<typeof rowShape>;

const saleShape = Type.Object({
  ...sale,
  confirmations: nullable(Type.Object({ have: Type.Integer(), need: Type.Integer() })),
  /** How it is paid now; null unless it waits for money. */
  pay: nullable(
    Type.Object({
      address: Type.String(),
      /** Null in test mode: a wallet would offer to send real money. */
      uri: nullable(Type.String()),
      /** One SVG path of strokes, in a square of `size` modules. */
      qr: Type.Object({ path: Type.String(), size: Type.Integer() }),
      /** Whether the code contains the address alone, so that the payer types the amount. */
      only_address: Type.Boolean(),
    }),
  ),
});
export type SaleView = Static<typeof saleShape>;

const TILL = '/dashboard/api/projects/:project/:mode/till';

/** The routes of the till. Each person sees only the payments that they made there. */
export const tillContract = {
  [`GET ${TILL}`]: {
    params: modeParams,
    answer: Type.Object({
      /** USD first. */
      currencies: Type.Array(oneOf(FIATS)),
      currency: oneOf(FIATS),
      /** The offered coins, the project's first choice first. */
      coins: Type.Array(namedCoinShape),
      /** In percent; empty if the project asks for no tips. */
      tips: Type.Array(Type.Integer()),
      /** Below this amount, seen money without a doubtful sign counts as paid; null: only confirmed money does. */
      seen_below: nullable(Type.Object({ amount: Type.String(), currency: oneOf(FIATS) })),
    }),
  },
  /** The sales of a day in a time zone, which is the device's: the till stands in the shop. */
  [`GET ${TILL}/sales`]: {
    params: modeParams,
    query: Type.Object({ zone: Type.Optional(text({ max: 64 })) }),
    answer: Type.Object({
      day: Type.String(),
      /** The newest ones. */
      sales: Type.Array(rowShape),
      has_more: Type.Boolean(),
      /** All sales of the day that count as paid. */
      sums: Type.Array(
        Type.Object({ currency: oneOf(FIATS), count: Type.Integer(), total: Type.String(), tips: Type.String() }),
      ),
    }),
  },
  /** Makes an invoice and, with a coin, its quote. */
  [`POST ${TILL}/sales`]: {
    params: modeParams,
    body: Type.Object({
      request: requestField,
      /** Without the tip. */
      amount: text({ max: 20, min: 1 }),
      tip: Type.Optional(text({ max: 20 })),
      currency: oneOf(FIATS),
      note: Type.Optional(text({ max: 200 })),
      asset: Type.Optional(oneOf(ASSET_CODES)),
      network: Type.Optional(oneOf(NETWORKS)),
    }),
    answer: saleShape,
  },
  [`GET ${TILL}/sales/:payment`]: { params: paymentParams, answer: saleShape },
  [`POST ${TILL}/sales/:payment/coin`]: { params: paymentParams, body: coinShape, answer: saleShape },
  [`POST ${TILL}/sales/:payment/cancel`]: { params: paymentParams, answer: saleShape },
  /** Server-sent events about the person's own sales. */
  [`GET ${TILL}/events`]: { params: modeParams, answer: liveMessageShape },
} as const satisfies Contracts;
