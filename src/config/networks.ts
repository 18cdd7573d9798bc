import path from 'node:path';
import {
  isUtxoNetwork,
  NETWORK_FACTS,
  NETWORKS,
  perNetwork,
  settingOf,
  UTXO_NETWORKS,
  type EvmNetwork,
  type UtxoNetwork,
} from '../domain/networks.ts';
import type { EvmNodes } from '../rails/evm/family.ts';
import { EVM_TOKENS, parseTokens, type TokenContracts } from '../rails/evm/tokens.ts';
import type { UtxoChains } from '../rails/family.ts';
import { chainsOf } from '../rails/utxo/params.ts';
import type { NetworkNodes } from '../rails/networks.ts';
import type { UtxoNodes } from '../rails/utxo/family.ts';
import type { Reader } from './reader.ts';

const MAX_CHAIN_ID = 2 ** 48;

/** Reads the chain of each UTXO network, also of networks without a node. */
export function readUtxoChains(read: Reader): UtxoChains {
  return perNetwork(UTXO_NETWORKS, (network) => read.choice(settingOf(network, 'CHAIN'), chainsOf(network), 'main'));
}

/** Reads `<NETWORK>_RPC_URL` and the settings that belong to it, for every network that has one. */
export function readNetworks(
  read: Reader,
  utxoChains: UtxoChains,
  cwd: string,
  problems: string[],
): readonly NetworkNodes[] {
  const utxo = (network: UtxoNetwork, urls: readonly string[]): UtxoNodes => {
    const setting = settingOf(network, 'COOKIE_FILE');
    const cookieFile = read.text(setting);
    const nodes = settingOf(network, 'RPC_URL');
    if (cookieFile !== null && urls.length === 0 && !read.isSet(nodes)) {
      const example = `http://127.0.0.1:${NETWORK_FACTS[network].rpcPort}`;
      problems.push(
        `${setting} is for the nodes of ${nodes}, but ${nodes} is not set. Set ${nodes}, for example to ${example}.`,
      );
    }
    const chain = utxoChains[network];
    return { family: 'utxo', network, urls, chain, cookieFile: cookieFile && path.resolve(cwd, cookieFile) };
  };
  const evm = (network: EvmNetwork, urls: readonly string[]): EvmNodes => {
    const chainId = read.integer(settingOf(network, 'CHAIN_ID'), NETWORK_FACTS[network].chainId, 1, MAX_CHAIN_ID);
    const tokens = readTokens(network, chainId, read.text(settingOf(network, 'TOKENS')), problems);
    return { family: 'evm', network, urls, chainId, tokens };
  };
  return NETWORKS.map((network) => {
    const urls = read.urls(settingOf(network, 'RPC_URL'));
    return isUtxoNetwork(network) ? utxo(network, urls) : evm(network, urls);
  }).filter(({ urls }) => urls.length > 0);
}

/** Reads the token contracts. The built-in ones are of the main chain: elsewhere their addresses mean nothing. */
function readTokens(network: EvmNetwork, chainId: number, text: string | null, problems: string[]): TokenContracts {
  if (text === null) return chainId === NETWORK_FACTS[network].chainId ? EVM_TOKENS[network] : new Map();
  const parsed = parseTokens(text, network);
  if (parsed.kind === 'ok') return parsed.tokens;
  problems.push(parsed.message);
  return new Map();
}
