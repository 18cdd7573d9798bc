import { Type, type Static } from 'typebox';
import { EVM_NETWORKS } from '../../../domain/networks.ts';
import { oneOf, text, nullable, time } from '../../fields.ts';
import {
  type Contracts,
  explorerUrl,
  keysetQuery,
  modeParams,
  walletCallShape,
  walletChainShape,
} from '../contract-parts.ts';

/** An amount of one asset, or of a coin that is not accepted, by its symbol. */
const amount = {
  asset: Type.String(),
  amount: Type.String(),
  /** Null if a part has no price. */
  usd: nullable(Type.String()),
  deposits: Type.Integer(),
};

const holdingShape = Type.Object({ treasury: Type.String(), ...amount });
export type HoldingView = Static<typeof holdingShape>;

const offeredShape = Type.Object({
  /** Sent back to the server: identifies the call by all that it does. */
  key: Type.String(),
  purpose: oneOf(['sweep', 'deploy_factory']),
  /** False until the factory is deployed. */
  ready: Type.Boolean(),
  treasury: nullable(Type.String()),
  amounts: Type.Array(Type.Object(amount)),
  call: walletCallShape,
  gas_estimate: Type.String(),
  gas_limit: Type.String(),
  /** At the gas price of the last check, in the network's coin. */
  cost: nullable(Type.String()),
  cost_usd: nullable(Type.String()),
});
export type OfferedView = Static<typeof offeredShape>;

const networkShape = Type.Object({
  network: oneOf(EVM_NETWORKS),
  name: Type.String(),
  chain: walletChainShape,
  /** The symbol of the coin that pays for gas. */
  coin: nullable(Type.String()),
  /** When a node last told this state; null: never. */
  checked_at: nullable(time()),
  /** Why the last attempt failed. */
  problem: nullable(oneOf(['no_node', 'unavailable'])),
  gas_price_gwei: nullable(Type.String()),
  /** Holdings that are worth a sweep, those below the project's minimum, and those being swept. */
  holdings: Type.Array(holdingShape),
  below: Type.Array(holdingShape),
  under_way: Type.Array(holdingShape),
  calls: Type.Array(offeredShape),
});
export type NetworkView = Static<typeof networkShape>;

const sweepShape = Type.Object({
  id: Type.String(),
  network: oneOf(EVM_NETWORKS),
  name: Type.String(),
  purpose: oneOf(['sweep', 'deploy_factory']),
  /** `chain`: sent elsewhere and found on the chain. */
  source: oneOf(['dashboard', 'chain']),
  state: oneOf(['asked', 'sent', 'seen', 'mined', 'failed', 'ended']),
  problem: nullable(oneOf(['declined', 'silent', 'lost', 'reverted', 'paid_nothing'])),
  treasury: nullable(Type.String()),
  /** The e-mail address of the person who sent it in the dashboard. */
  sent_by: nullable(Type.String()),
  /** The address that paid for its gas. */
  sender: nullable(Type.String()),
  call: nullable(walletCallShape),
  chain: walletChainShape,
  hash: nullable(Type.String()),
  explorer_url: explorerUrl,
  created_at: time(),
  /** When its wallet sent it or, while it waits to be mined, when a node last had it. */
  sent_at: nullable(time()),
  mined_at: nullable(time()),
  /** Whether its block has enough confirmations. */
  final: Type.Boolean(),
  /** The planned amounts; once mined, the amounts that it took, with their worth at that time. */
  amounts: Type.Array(Type.Object({ ...amount, failed: Type.Integer() })),
  coin: nullable(Type.String()),
  gas_used: nullable(Type.String()),
  fee: nullable(Type.String()),
  fee_usd: nullable(Type.String()),
});
export type SweepView = Static<typeof sweepShape>;

const overviewShape = Type.Object({
  /** The least worth of a deposit that is swept. */
  minimum_usd: Type.String(),
  networks: Type.Array(networkShape),
  /** Sweeps whose end the chain has not shown yet, oldest first. */
  open: Type.Array(sweepShape),
});
export type SweepsOverview = Static<typeof overviewShape>;

const SCOPE = '/dashboard/api/projects/:project/:mode/sweeps';
const sweepParams = Type.Object({ ...modeParams.properties, sweep: Type.String() });
const address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });

/** The routes of the page of sweeps; 404 in test mode, where there are no deposit contracts. */
export const sweepsContract = {
  /** The last known state: asks no node. */
  [`GET ${SCOPE}`]: { params: modeParams, answer: overviewShape },
  /** Asks the nodes now; 409 while another request of this project asks. */
  [`POST ${SCOPE}/check`]: { params: modeParams, body: Type.Object({}), answer: overviewShape },
  [`GET ${SCOPE}/history`]: {
    params: modeParams,
    query: Type.Object(keysetQuery),
    answer: Type.Object({ data: Type.Array(sweepShape), next: nullable(Type.String()) }),
  },
  /** Takes a call for one's own wallet; 409 if it is no longer offered. */
  [`POST ${SCOPE}`]: {
    params: modeParams,
    body: Type.Object({ network: oneOf(EVM_NETWORKS), key: text({ max: 64, min: 1 }) }),
    answer: sweepShape,
  },
  /** The wallet has sent it; null: without telling the hash. */
  [`POST ${SCOPE}/:sweep/sent`]: {
    params: sweepParams,
    body: Type.Object({ hash: nullable(text({ max: 80 })), sender: Type.Optional(address) }),
    answer: sweepShape,
  },
  /** The wallet has not sent it. */
  [`POST ${SCOPE}/:sweep/give-up`]: { params: sweepParams, body: Type.Object({}), answer: sweepShape },
} as const satisfies Contracts;
