import { Type, type Static } from 'typebox';
import { NETWORK_PROBLEMS } from '../../../domain/network-problem.ts';
import { oneOf, text, nullable, time } from '../../fields.ts';
import { type Contracts, projectParams } from '../contract-parts.ts';

const KINDS = ['xpub', 'descriptor', 'treasury'] as const;
const ADDRESS_KINDS = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr', 'p2wsh', 'account', 'deposit'] as const;

const nodeShape = Type.Object({
  /** Scheme, host and port. */
  node: Type.String(),
  height: nullable(Type.Integer()),
  problem: nullable(Type.String()),
});

const walletShape = Type.Object({
  kind: oneOf(KINDS),
  source: Type.String(),
  /** Null: the source cannot be read. */
  address_kind: nullable(oneOf(ADDRESS_KINDS)),
  next_index: Type.Integer(),
  /** The merchant's number; null: by the amount. */
  confirmations: nullable(Type.Integer()),
  /** The confirmations in force: `below_usd` (null: no limit) and their number. */
  tiers: Type.Array(Type.Object({ below_usd: nullable(Type.String()), confirmations: Type.Integer() })),
  /** In percent, decimal text. */
  tolerance: Type.String(),
  has_own_tolerance: Type.Boolean(),
  set_at: time(),
  /** Why it hands out no address; null if it does. */
  problem: nullable(Type.String()),
  warning: nullable(Type.String()),
});

const healthShape = Type.Object({
  problem: nullable(Type.String()),
  problem_kind: nullable(oneOf(NETWORK_PROBLEMS)),
  height: nullable(Type.Integer()),
  lag_blocks: nullable(Type.Integer()),
  /** Age of the newest block that was read. */
  lag_seconds: nullable(Type.Integer()),
  cursor: nullable(Type.Object({ height: Type.Integer(), hash: Type.String(), block_at: time() })),
  nodes: Type.Array(Type.Object({ ...nodeShape.properties, checked_at: time() })),
});

const networkShape = Type.Object({
  network: Type.String(),
  label: Type.String(),
  /** The ways to give a wallet, the usual one first. */
  kinds: Type.Array(oneOf(KINDS)),
  /** The setting that names its nodes. */
  setting: Type.String(),
  /** The wallet's version; a change names the version that was seen. */
  version: Type.String(),
  wallet: nullable(walletShape),
  /** The last known state; null: the service has no node of the network. */
  health: nullable(healthShape),
});
export type NetworkView = Static<typeof networkShape>;
export type WalletView = Static<typeof walletShape>;
export type NetworkHealthView = Static<typeof healthShape>;

const coinShape = Type.Object({
  /** A coin such as `USDT/polygon`. */
  coin: text({ max: 40, min: 1 }),
  is_on: Type.Boolean(),
});
export type CoinView = Static<typeof coinShape>;

const overviewShape = Type.Object({
  networks: Type.Array(networkShape),
  /** The coins that a wallet is set for, in the order of the payment page. */
  coins: Type.Array(coinShape),
  has_own_order: Type.Boolean(),
  /** In percent, decimal text. */
  spread: Type.String(),
  monitoring_hours: Type.Integer(),
  /** Whether the project has its own window; otherwise it is the service's. */
  has_own_window: Type.Boolean(),
  /** The version of coins, spread and window. */
  version: Type.String(),
});
export type WalletsView = Static<typeof overviewShape>;

const sourceFields = { kind: oneOf(KINDS), source: text({ max: 4_000, min: 1 }) };
const versionField = text({ max: 64, min: 1 });
const percentField = text({ max: 10, min: 1 });
const termFields = {
  /** Null: by the amount. */
  confirmations: nullable(Type.Integer()),
  /** In percent; null: the default. */
  tolerance: nullable(percentField),
};

const WALLETS = '/dashboard/api/projects/:project/wallets';
const params = Type.Object({ ...projectParams.properties, network: Type.String() });

export const walletsContract = {
  [`GET ${WALLETS}`]: { params: projectParams, answer: overviewShape },
  /** The first addresses of a wallet, for comparison. Nothing is saved. */
  [`POST ${WALLETS}/:network/preview`]: {
    params,
    body: Type.Object(sourceFields),
    answer: Type.Object({
      /** The source as it would be stored. */
      source: Type.String(),
      address_kind: oneOf(ADDRESS_KINDS),
      addresses: Type.Array(Type.String()),
      /** Sent back when the wallet is saved. */
      compared: Type.String(),
      note: nullable(Type.String()),
      warnings: Type.Array(Type.String()),
    }),
  },
  /** Saves the compared wallet. 409 if it is another one, or if somebody changed the wallet meanwhile. */
  [`POST ${WALLETS}/:network`]: {
    params,
    body: Type.Object({
      ...sourceFields,
      ...termFields,
      first_index: nullable(Type.Integer()),
      compared: text({ max: 64, min: 1 }),
      version: versionField,
    }),
    answer: Type.Object({
      wallets: overviewShape,
      changes: Type.Array(Type.String()),
      warnings: Type.Array(Type.String()),
      note: nullable(Type.String()),
    }),
  },
  [`POST ${WALLETS}/:network/terms`]: {
    params,
    body: Type.Object({ ...termFields, version: versionField }),
    answer: Type.Object({ wallets: overviewShape, changes: Type.Array(Type.String()) }),
  },
  /** Asks the network's nodes, for at most ten seconds. */
  [`POST ${WALLETS}/:network/check`]: {
    params,
    answer: Type.Object({
      kind: oneOf(KINDS),
      source: Type.String(),
      next_index: Type.Integer(),
      /** Null: the wallet cannot be read. */
      addresses: nullable(Type.Array(Type.Object({ address: Type.String(), is_used: Type.Boolean() }))),
      /** Null: no node is set. */
      nodes: nullable(Type.Array(nodeShape)),
      fault: nullable(Type.String()),
    }),
  },
  /** Absent fields stay as they are; `coins` null: all of them in the usual order. */
  'POST /dashboard/api/projects/:project/payment-terms': {
    params: projectParams,
    body: Type.Object({
      spread: Type.Optional(percentField),
      /** Null: the service's setting. */
      monitoring_hours: Type.Optional(nullable(Type.Integer())),
      coins: Type.Optional(nullable(Type.Array(coinShape, { maxItems: 100 }))),
      version: versionField,
    }),
    answer: overviewShape,
  },
} as const satisfies Contracts;
