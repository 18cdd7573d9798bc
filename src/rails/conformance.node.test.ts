import { startAnvil } from '../../test/anvil.ts';
import { deployToken, type TestToken } from '../../test/erc20.ts';
import { startUtxoNode, utxoNodeKinds, type UtxoNodeKind } from '../../test/litecoind.ts';
import type { AssetCode } from '../domain/asset-code.ts';
import { formatDecimal } from '../domain/money.ts';
import { EVM_NETWORKS, NETWORK_FACTS, perNetwork, UTXO_NETWORKS, type EvmNetwork } from '../domain/networks.ts';
import { describeChain, type NodeChain } from './conformance.fixture.ts';
import { EVM_TOKENS } from './evm/tokens.ts';
import { MAIN_CHAINS } from './utxo/params.ts';
import { publicKeyAt } from './utxo/wallet.fixture.ts';

for (const network of EVM_NETWORKS) describeChain(network, () => startEvmChain(network));
for (const kind of utxoNodeKinds()) describeChain(kind, () => startUtxoChain(kind));

/** The network's chain id, coin and tokens on an anvil. */
async function startEvmChain(network: EvmNetwork): Promise<NodeChain> {
  const { chainId, coin } = NETWORK_FACTS[network];
  const wallet = { kind: 'xpub', text: publicKeyAt("m/44'/60'/0'", 'xpub') } as const;
  const anvil = await startAnvil({ chainId, manualMining: true });
  const tokens = new Map<AssetCode, TestToken>();
  for (const [code, { decimals }] of EVM_TOKENS[network]) {
    tokens.set(code, await deployToken(anvil, 'ordinary', decimals));
  }
  const contracts = new Map(
    [...EVM_TOKENS[network]].map(([code, { decimals }]) => [
      code,
      { contract: tokens.get(code)?.address ?? '', decimals },
    ]),
  );
  const nodes = { family: 'evm', network, urls: [anvil.url], chainId, tokens: contracts } as const;
  return {
    nodes,
    misplaced: { ...nodes, chainId: chainId + 1 },
    chains: MAIN_CHAINS,
    wallet,
    assets: [...(coin === null ? [] : [coin.asset]), ...tokens.keys()],
    pay: (asset, address, units) => tokens.get(asset)?.transfer(address, units) ?? anvil.transfer(address, units),
    mine: (count) => anvil.mine(count),
    reorganise: async () => {
      await anvil.rpc('anvil_reorg', [1, []]);
      await anvil.mine(1);
    },
    stop: () => anvil.stop(),
  };
}

/** A regtest chain on the network's own node. */
async function startUtxoChain(kind: UtxoNodeKind): Promise<NodeChain> {
  const wallet = { kind: 'xpub', text: publicKeyAt("m/84'/1'/0'", 'vpub') } as const;
  const node = await startUtxoNode({ kind });
  await node.fund();
  // Several coins, so that a payment need not wait for the change of the one before.
  await node.mine(10);
  const { coin } = NETWORK_FACTS[kind];
  const nodes = { family: 'utxo', network: kind, urls: [node.url], chain: 'regtest', cookieFile: null } as const;
  return {
    nodes,
    misplaced: { ...nodes, chain: 'test' },
    chains: perNetwork(UTXO_NETWORKS, () => 'regtest'),
    wallet,
    assets: [coin.asset],
    pay: (_asset, address, units) => node.send(address, formatDecimal(units, coin.decimals)),
    mine: async (count) => void (await node.mine(count)),
    reorganise: async () => {
      await node.rpc('invalidateblock', [await node.rpc('getbestblockhash')]);
      await node.mine(2, await node.newAddress());
    },
    stop: () => node.stop(),
  };
}
