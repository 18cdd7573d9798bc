import { ASSETS, isAssetCode, tokenOf, type AssetCode, type Network } from '../../domain/asset.ts';
import { parseEvmAddress } from './address.ts';

export type EvmNetwork = Exclude<Network, 'bitcoin' | 'litecoin'>;

/** A token's contract on one network. */
export interface TokenContract {
  /** `0x` and 40 hex digits in lower case. */
  readonly contract: string;
  /** What the contract's `decimals()` gives: 10^decimals smallest units are one whole token. */
  readonly decimals: number;
}

export type TokenContracts = ReadonlyMap<AssetCode, TokenContract>;

export type TokensCheck =
  | { readonly kind: 'ok'; readonly tokens: TokenContracts }
  | { readonly kind: 'bad'; readonly message: string };

/** EIP-155 ids of the main chains, as in the registry at chainlist.org (ethereum-lists/chains). */
export const EVM_CHAIN_IDS: Readonly<Record<EvmNetwork, number>> = {
  ethereum: 1,
  polygon: 137,
  base: 8_453,
  arbitrum: 42_161,
  bsc: 56,
};

/**
 * The dollar tokens of the main chains.
 *
 * USDC: https://developers.circle.com/stablecoins/usdc-contract-addresses, everywhere the native one; bridged kinds (USDC.e,
 * USDbC) are other tokens. USDT: https://tether.to/en/supported-protocols for Ethereum; on Polygon and Arbitrum the contracts that
 * the chains' own bridges made and that are USDT0 today (https://docs.usdt0.to). On BNB Chain neither issuer has a
 * contract: those are Binance's pegged tokens, with 18 decimals
 * (https://www.binance.com/en/collateral-btokens).
 */
export const EVM_TOKENS: Readonly<Record<EvmNetwork, TokenContracts>> = {
  ethereum: new Map([
    ['USDT', token('0xdAC17F958D2ee523a2206206994597C13D831ec7', 6)],
    ['USDC', token('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 6)],
  ]),
  polygon: new Map([
    ['USDT', token('0xc2132D05D31c914a87C6611C10748AEb04B58e8F', 6)],
    ['USDC', token('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 6)],
  ]),
  base: new Map([['USDC', token('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 6)]]),
  arbitrum: new Map([
    ['USDT', token('0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', 6)],
    ['USDC', token('0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 6)],
  ]),
  bsc: new Map([
    ['USDT', token('0x55d398326f99059fF775485246999027B3197955', 18)],
    ['USDC', token('0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', 18)],
  ]),
};

const MIN_DECIMALS = 2;
const MAX_DECIMALS = 36;

/**
 * Reads the setting that replaces a network's built-in tokens, such as `ETHEREUM_TOKENS`: `USDT=0x…:6,USDC=0x…:6`, code,
 * contract and decimals of each. An empty text means no tokens. `message` names the setting, the rule and the way out.
 */
export function parseTokens(text: string, network: EvmNetwork): TokensCheck {
  const setting = `${network.toUpperCase()}_TOKENS`;
  const tokens = new Map<AssetCode, TokenContract>();
  for (const entry of text.trim() === '' ? [] : text.split(',')) {
    const read = parseToken(entry.trim(), network);
    if (read.kind === 'bad') return { kind: 'bad', message: `${setting}: ${read.message}` };
    if (tokens.has(read.asset))
      return { kind: 'bad', message: `${setting}: ${read.asset} is given twice. Give it once.` };
    const other = [...tokens].find(([, { contract }]) => contract === read.token.contract)?.[0];
    if (other) {
      return {
        kind: 'bad',
        message: `${setting}: ${other} and ${read.asset} have the same contract. Give each its own.`,
      };
    }
    tokens.set(read.asset, read.token);
  }
  return { kind: 'ok', tokens };
}

type TokenCheck =
  | { readonly kind: 'ok'; readonly asset: AssetCode; readonly token: TokenContract }
  | { readonly kind: 'bad'; readonly message: string };

function parseToken(entry: string, network: EvmNetwork): TokenCheck {
  const [, code = '', address = '', decimals = ''] = /^([^=:]+)=([^=:]+):(\d{1,3})$/.exec(entry) ?? [];
  if (code === '') {
    return bad(
      'each token must be CODE=0xCONTRACT:DECIMALS, several with commas between, such as USDT=0x…:6,USDC=0x…:6.',
    );
  }
  const known = tokenCodes(network);
  if (!isAssetCode(code) || !known.includes(code)) {
    return bad(`${code} is not a token of ${network} that Cointill knows. Give one of: ${known.join(', ')}.`);
  }
  const checked = parseEvmAddress(address);
  if (checked.kind === 'bad') return bad(`the contract of ${code}: ${checked.message}`);
  if (Number(decimals) < MIN_DECIMALS || Number(decimals) > MAX_DECIMALS) {
    return bad(`the decimals of ${code} must be ${MIN_DECIMALS} to ${MAX_DECIMALS}. Ask the contract's decimals().`);
  }
  return { kind: 'ok', asset: code, token: token(checked.address, Number(decimals)) };
}

function tokenCodes(network: EvmNetwork): readonly AssetCode[] {
  return Object.values(ASSETS)
    .filter(({ code }) => code !== 'ETH' && tokenOf(code, network) !== null)
    .map(({ code }) => code);
}

function token(contract: string, decimals: number): TokenContract {
  return { contract: contract.toLowerCase(), decimals };
}

function bad(message: string): { readonly kind: 'bad'; readonly message: string } {
  return { kind: 'bad', message };
}
