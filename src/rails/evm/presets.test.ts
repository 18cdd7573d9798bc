import { describe, expect, it } from 'vitest';
import { ASSETS, tokenOf } from '../../domain/asset.ts';
import { toChecksumAddress } from './address.ts';
import { EVM_CHAIN_IDS, EVM_TOKENS, parseTokens, type EvmNetwork } from './presets.ts';

const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

const networks = Object.keys(EVM_CHAIN_IDS) as EvmNetwork[];

describe('the built-in tokens', () => {
  it.each(networks)('of %s are the dollar tokens that quotes are made in, with the same decimals', (network) => {
    for (const { code } of Object.values(ASSETS)) {
      const token = code === 'ETH' ? null : tokenOf(code, network);
      expect(EVM_TOKENS[network].get(code)?.decimals).toBe(token?.decimals);
    }
  });

  it('have contracts of their own, each an address in lower case', () => {
    const contracts = networks.flatMap((network) =>
      [...EVM_TOKENS[network].values()].map(({ contract }) => `${network} ${contract}`),
    );
    expect(new Set(contracts).size).toBe(contracts.length);
    for (const contract of contracts) expect(contract).toMatch(/^[a-z]+ 0x[0-9a-f]{40}$/);
    // The issuers publish them with the checksum of EIP-55, which a mistyped digit would not have.
    expect(toChecksumAddress(EVM_TOKENS.ethereum.get('USDC')?.contract ?? '')).toBe(USDC);
    expect(toChecksumAddress(EVM_TOKENS.ethereum.get('USDT')?.contract ?? '')).toBe(USDT);
    expect(toChecksumAddress(EVM_TOKENS.polygon.get('USDC')?.contract ?? '')).toBe(
      '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    );
    expect(toChecksumAddress(EVM_TOKENS.polygon.get('USDT')?.contract ?? '')).toBe(
      '0xc2132D05D31c914a87C6611C10748AEb04B58e8F',
    );
    expect(toChecksumAddress(EVM_TOKENS.base.get('USDC')?.contract ?? '')).toBe(
      '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    );
    expect(toChecksumAddress(EVM_TOKENS.arbitrum.get('USDC')?.contract ?? '')).toBe(
      '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    );
    expect(toChecksumAddress(EVM_TOKENS.arbitrum.get('USDT')?.contract ?? '')).toBe(
      '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9',
    );
    expect(toChecksumAddress(EVM_TOKENS.bsc.get('USDC')?.contract ?? '')).toBe(
      '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
    );
    expect(toChecksumAddress(EVM_TOKENS.bsc.get('USDT')?.contract ?? '')).toBe(
      '0x55d398326f99059fF775485246999027B3197955',
    );
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
    [`USDT=${USDT}:6,USDT=${USDC}:6`, 'USDT is given twice'],
    [`USDT=${USDT}:6,USDC=${USDT}:6`, 'USDT and USDC have the same contract'],
  ])('refuses %s with the way out', (text, expected) => {
    const check = parseTokens(text, 'ethereum');
    expect(check).toMatchObject({ kind: 'bad', message: expect.stringContaining(expected) });
    expect(check).toMatchObject({ message: expect.stringMatching(/^ETHEREUM_TOKENS: /) });
  });

  it('knows which tokens a network has', () => {
    expect(parseTokens(`USDT=${USDT}:6`, 'base')).toEqual({
      kind: 'bad',
      message: 'BASE_TOKENS: USDT is not a token of base that Cointill knows. Give one of: USDC.',
    });
  });
});
