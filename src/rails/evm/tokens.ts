import { ASSET_CODES, type AssetCode } from '../../domain/asset-code.ts';
import { isAssetCode } from '../../domain/asset.ts';
import type { TokenContract } from '../../domain/network-facts.ts';
import { NETWORK_FACTS, EVM_NETWORKS, perNetwork, settingOf, type EvmNetwork } from '../../domain/networks.ts';
import { parseEvmAddress } from './address.ts';

export type TokenContracts = ReadonlyMap<AssetCode, TokenContract>;

export type TokensCheck =
  | { readonly kind: 'ok'; readonly tokens: TokenContracts }
  | { readonly kind: 'invalid'; readonly message: string };

/** The well-known tokens of the main chains, with contracts in lower case. */
export const EVM_TOKENS: Readonly<Record<EvmNetwork, TokenContracts>> = perNetwork(EVM_NETWORKS, (network) => {
  const { tokens } = NETWORK_FACTS[network];
  return new Map(
    ASSET_CODES.flatMap((code) => {
      const known = tokens[code];
      return known === undefined ? [] : [[code, token(known.contract, known.decimals)] as const];
    }),
  );
});

const MIN_DECIMALS = 2;
const MAX_DECIMALS = 36;

/**
 * Parses the setting that replaces a network's built-in tokens, such as `ETHEREUM_TOKENS`: `USDT=0x…:6,USDC=0x…:6`,
 * with code, contract and decimals of each. An empty text means no tokens. `message` names the setting, the rule and
 * the way out.
 */
export function parseTokens(text: string, network: EvmNetwork): TokensCheck {
  const setting = settingOf(network, 'TOKENS');
  const tokens = new Map<AssetCode, TokenContract>();
  for (const entry of text.trim() === '' ? [] : text.split(',')) {
    const read = parseToken(entry.trim(), network);
    if (read.kind === 'invalid') return { kind: 'invalid', message: `${setting}: ${read.message}` };
    if (tokens.has(read.asset))
      return { kind: 'invalid', message: `${setting}: ${read.asset} is listed twice. List it once.` };
    const other = [...tokens].find(([, { contract }]) => contract === read.token.contract)?.[0];
    if (other) {
      return {
        kind: 'invalid',
        message: `${setting}: ${other} and ${read.asset} have the same contract. Give each its own.`,
      };
    }
    tokens.set(read.asset, read.token);
  }
  return { kind: 'ok', tokens };
}

type TokenCheck =
  | { readonly kind: 'ok'; readonly asset: AssetCode; readonly token: TokenContract }
  | { readonly kind: 'invalid'; readonly message: string };

function parseToken(entry: string, network: EvmNetwork): TokenCheck {
  const [, code = '', address = '', decimals = ''] = /^([^=:]+)=([^=:]+):(\d{1,3})$/.exec(entry) ?? [];
  if (code === '') {
    return bad('each token must be CODE=0xCONTRACT:DECIMALS, separated by commas, such as USDT=0x…:6,USDC=0x…:6.');
  }
  const known = [...EVM_TOKENS[network].keys()];
  if (!isAssetCode(code) || !known.includes(code)) {
    return bad(`${code} is not a token of ${network} that Cointill knows. Give one of: ${known.join(', ')}.`);
  }
  const checked = parseEvmAddress(address);
  if (checked.kind === 'invalid') {
    const rule = 'must be 0x followed by 40 hex digits, with the right checksum (EIP-55). Copy the address again.';
    return bad(`the contract of ${code} ${rule}`);
  }
  if (Number(decimals) < MIN_DECIMALS || Number(decimals) > MAX_DECIMALS) {
    return bad(
      `the decimals of ${code} must be ${MIN_DECIMALS} to ${MAX_DECIMALS}. Call decimals() of the contract to get the right number.`,
    );
  }
  return { kind: 'ok', asset: code, token: token(checked.address, Number(decimals)) };
}

function token(contract: string, decimals: number): TokenContract {
  return { contract: contract.toLowerCase(), decimals };
}

function bad(message: string): { readonly kind: 'invalid'; readonly message: string } {
  return { kind: 'invalid', message };
}
