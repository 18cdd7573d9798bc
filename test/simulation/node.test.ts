import { ASSET_CODES } from '../../src/domain/asset-code.ts';
import { tokenOf } from '../../src/domain/asset.ts';
import { familyFacts, NETWORK_FACTS } from '../../src/domain/networks.ts';
import { describeSource, type TestChain } from '../../src/rails/conformance.fixture.ts';
import { rulesOf } from '../../src/rails/networks.ts';
import { createAwaitPoints } from './await-points.ts';
import { createSimChain } from './chain.ts';
import { createSimNode } from './node.ts';
import { createRandom } from './random.ts';

/** The networks of the simulation. */
const SIM_NETWORKS = ['litecoin', 'ethereum'] as const;

/**
 * The simulation's nodes must behave like real ones while they are honest, or its histories prove nothing. Its EVM
 * nodes are asked only for blocks.
 */
for (const network of SIM_NETWORKS) {
  describeSource(network, async () => startSimChain(network), familyFacts(network).seesWaiting ? 'mempool' : 'unknown');
}

function startSimChain(network: (typeof SIM_NETWORKS)[number]): TestChain {
  const { family, coin, blockMs } = NETWORK_FACTS[network];
  if (coin === null) throw new Error(`${network} has no coin`);
  const random = createRandom(`a node of ${network}`);
  let now = Date.UTC(2026, 0);
  const chain = createSimChain({ network, family, nativeAsset: coin.asset, blockMs, failing: 0 }, random, now, 20);
  const node = createSimNode(chain, familyFacts(network).seesWaiting, random, () => []);
  const rules = rulesOf(network);
  const later = (): number => (now += blockMs);
  return {
    network,
    open: () => node.source(createAwaitPoints(), () => true),
    addressAt: (index) => rules.testAddress(index.toString(16).padStart(40, '1')),
    assets: ASSET_CODES.filter((asset) => tokenOf(asset, network) !== null),
    pay: async (asset, address, amount) =>
      chain.send([{ asset, address: rules.matchingAddress(address), amount }]).hash,
    mine: async (count) => {
      for (let mined = 0; mined < count; mined += 1) chain.mine(later(), 1, 100);
    },
    reorganise: async () => chain.reorganise(later(), 1, true),
    stop: async () => {},
  };
}
