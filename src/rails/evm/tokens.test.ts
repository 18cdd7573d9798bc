import { describe, expect, it } from 'vitest';
import { ASSET_CODES } from '../../domain/asset-code.ts';
import { tokenOf } from '../../domain/asset.ts';
import { EVM_NETWORKS, nativeAsset, NETWORK_FACTS } from '../../domain/networks.ts';
import { toChecksumAddress } from './address.ts';
import { EVM_TOKENS, parseTokens } from './tokens.ts';

const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

describe('the built-in tokens', () => {
  it.each(EVM_NETWORKS)('of %s are what quotes are made in beside its coin, with the same decimals', (network) => {
    for (const code of ASSET_CODES) {
      const token = code === nativeAsset(network) ? null : tokenOf(code, network);
      expect(EVM_TOKENS[network].get(code)?.decimals).toBe(token?.decimals);
    }
  });

  it.each(EVM_NETWORKS)('of %s have contracts of their own, without a mistyped digit', (network) => {
    // The issuers publish them with the checksum of EIP-55.
    const published = Object.values(NETWORK_FACTS[network].tokens).map(({ contract }) => contract);
    expect(published).toEqual(published.map(toChecksumAddress));
    expect(new Set(published).size).toBe(published.length);
    const compared = [...EVM_TOKENS[network].values()].map(({ contract }) => contract);
    expect(compared.toSorted()).toEqual(published.map((contract) => contract.toLowerCase()).toSorted());
  });
});

describe('the setting that replaces them', () => {
  it('gives each token its contract, in lower case, and its decimals', () => {
    const tokens = new Map([
      ['USDT', { contract: USDT.toLowerCase(), decimals: 6 }],
      ['USDC', { contract: USDC.toLowerCase(), decimals: 18 }],
    ]);
    expect(parseTokens(`USDT=${USDT}:6,USDC=${USDC}:18`, 'ethereum')).toEqual({ kind: 'ok', tokens });
    expect(parseTokens(` USDT=${USDT.toLowerCase()}:6 , USDC=${USDC}:18 `, 'ethereum')).toEqual({ kind: 'ok', tokens });
  });

  it('switches all tokens off when it is empty', () => {
    expect(parseTokens(' ', 'base')).toEqual({ kind: 'ok', tokens: new Map() });
  });

  it.each([
    ['USDT', 'must be CODE=0xCONTRACT:DECIMALS'],
    [`USDT=${USDT}`, 'must be CODE=0xCONTRACT:DECIMALS'],
    [`USDT=${USDT}:x`, 'must be CODE=0xCONTRACT:DECIMALS'],
    [`USDT=${USDT}:6,`, 'must be CODE=0xCONTRACT:DECIMALS'],
    [`usdt=${USDT}:6`, 'Give one of: USDT, USDC'],
    [`DAI=${USDT}:18`, 'Give one of: USDT, USDC'],
    [`ETH=${USDT}:18`, 'Give one of: USDT, USDC'],
    [`BTC=${USDT}:8`, 'Give one of: USDT, USDC'],
    ['USDT=0x12:6', '40 hex digits'],
    [`USDT=${USDT.replace('dAC', 'dac')}:6`, 'checksum'],
    [`USDT=${USDT}:1`, 'decimals of USDT must be 2 to 36'],
    [`USDT=${USDT}:37`, 'decimals of USDT must be 2 to 36'],
    [`USDT=${USDT}:6,USDT=${USDC}:6`, 'USDT is listed twice'],
    [`USDT=${USDT}:6,USDC=${USDT}:6`, 'USDT and USDC have the same contract'],
  ])('refuses %s with the way out', (text, expected) => {
    const check = parseTokens(text, 'ethereum');
    expect(check).toMatchObject({ kind: 'invalid', message: expect.stringContaining(expected) });
    expect(check).toMatchObject({ message: expect.stringMatching(/^ETHEREUM_TOKENS: /) });
  });

  it('knows which tokens a network has', () => {
    expect(parseTokens(`USDT=${USDT}:6`, 'base')).toEqual({
      kind: 'invalid',
      message: 'BASE_TOKENS: USDT is not a token of base that Cointill knows. Give one of: USDC.',
    });
  });
});
