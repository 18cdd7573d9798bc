import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, createBase58check } from '@scure/base';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVM_NETWORKS } from '../domain/networks.ts';
import { checkPayoutAddress, matchingAddress } from './address.ts';
import { DEPOSIT_FACTORY, DETERMINISTIC_DEPLOYER, FIRST_DEPOSIT_FACTORY } from './evm/deposit.ts';

const MAIN = 'main';
const ANY = 'any';

/** BIP 173 and BIP 350, and each coin's well-known examples. */
const BITCOIN_MAIN = [
  'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
  'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
  'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
  '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
  '3P14159f73E4gFr7JterCCQh9QjiTjiZrG',
];
const BITCOIN_TEST = [
  'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
  'tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c',
  'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn',
  '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc',
];

/** Invalid by BIP 173 and BIP 350. */
const INVALID = [
  'tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut',
  'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
  'tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf',
  'BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL',
  'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh',
  'tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47',
  'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4',
  'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R',
  'bc1pw5dgrnzv',
  'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav',
  'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P',
  'tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq',
  'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf',
  'tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j',
  'bc1gmk9yu',
  'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5',
  'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3pjxtptv',
  'bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du',
];

/** Valid by BIP 350, but for witness versions and lengths that have no rules yet. */
const UNSPENDABLE = [
  'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y',
  'BC1SW50QGDZ25J',
  'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs',
];

const LITECOIN_MAIN = [
  'LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1',
  'MTvnA4CN73ry7c65wEuTSaKzb2pNKHB4n1',
  'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
];
const EVM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

describe('a payout address', () => {
  it.each([
    ['a precompiled contract', '0x0000000000000000000000000000000000000001'],
    ['the last reserved address', '0x000000000000000000000000000000000000ffff'],
    ['the contract of a token', '0xdAC17F958D2ee523a2206206994597C13D831ec7'],
    ['the contract of another token, in lower case', '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'],
    ['a contract of the operator’s own', '0x5FbDB2315678afecb367f032d93F642f64180aa3'],
    ['the factory of deposits', DEPOSIT_FACTORY.address],
    ['what deposits are clones of', DEPOSIT_FACTORY.implementation.toLowerCase()],
    ['the first factory of deposits', FIRST_DEPOSIT_FACTORY.address],
    ['the deployer of factories', DETERMINISTIC_DEPLOYER],
  ])('that nobody has a key of is refused: %s', (_name, address) => {
    const contracts = ['0x5fbdb2315678afecb367f032d93f642f64180aa3'];
    expect(checkPayoutAddress('ethereum', address, MAIN, contracts)).toMatchObject({
      kind: 'invalid',
      deadEnd: true,
      fault: { code: expect.stringMatching(/^address_(?:reserved|token|factory)$/) },
    });
  });

  it('just above the reserved ones, or the contract of another network’s token, is taken', () => {
    const above = '0x0000000000000000000000000000000000010000';
    expect(checkPayoutAddress('ethereum', above, MAIN)).toEqual({ kind: 'ok', address: above });
    const elsewhere = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
    expect(checkPayoutAddress('ethereum', elsewhere, MAIN)).toEqual({ kind: 'ok', address: elsewhere });
  });

  it('of a witness version without rules yet is refused for that, not for a wrong character', () => {
    expect(checkPayoutAddress('bitcoin', 'BC1SW50QGDZ25J', MAIN)).toMatchObject({
      kind: 'invalid',
      fault: { code: 'address_version' },
    });
  });

  it.each(BITCOIN_MAIN)('of Bitcoin is taken, in its usual form: %s', (address) => {
    const expected = /^bc1/i.test(address) ? address.toLowerCase() : address;
    expect(checkPayoutAddress('bitcoin', ` ${address} `, MAIN)).toEqual({ kind: 'ok', address: expected });
  });

  it.each(BITCOIN_TEST)('of a test network is taken only where test networks are allowed: %s', (address) => {
    for (const chain of ['test', 'signet', ANY] as const) {
      expect(checkPayoutAddress('bitcoin', address, chain)).toEqual({ kind: 'ok', address });
    }
    const check = checkPayoutAddress('bitcoin', address, MAIN);
    expect(check).toMatchObject({ kind: 'invalid', fault: { code: 'address_of_test' } });
  });

  it.each([...INVALID, ...UNSPENDABLE])(
    'that breaks the rules, or that nobody could spend from, is refused: %s',
    (address) => {
      expect(checkPayoutAddress('bitcoin', address, ANY).kind).toBe('invalid');
    },
  );

  it.each(LITECOIN_MAIN)('of Litecoin is taken for Litecoin and refused, by name, for Bitcoin: %s', (address) => {
    expect(checkPayoutAddress('litecoin', address, MAIN)).toEqual({ kind: 'ok', address });
    const check = checkPayoutAddress('bitcoin', address, ANY);
    expect(check).toMatchObject({
      kind: 'invalid',
      fault: { code: 'address_other_network', values: { other: 'Litecoin' } },
    });
  });

  it.each(BITCOIN_MAIN)('of Bitcoin is refused, by name, for Litecoin: %s', (address) => {
    const check = checkPayoutAddress('litecoin', address, ANY);
    expect(check).toMatchObject({
      kind: 'invalid',
      fault: { code: 'address_other_network', values: { other: 'Bitcoin' } },
    });
  });

  it('of Litecoin’s test networks is taken only where test networks are allowed', () => {
    const base58check = createBase58check(sha256);
    const p2sh = base58check.encode(Uint8Array.of(0x3a, ...new Uint8Array(20)));
    expect(p2sh.startsWith('Q')).toBe(true);
    expect(checkPayoutAddress('litecoin', p2sh, ANY).kind).toBe('ok');
    expect(checkPayoutAddress('litecoin', p2sh, MAIN).kind).toBe('invalid');
  });

  const REGTEST = {
    bitcoin: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
    litecoin: bech32.encode('rltc', [0, ...bech32.toWords(new Uint8Array(20).fill(7))]),
  };

  it.each([
    ['bitcoin', BITCOIN_MAIN, BITCOIN_TEST.slice(0, 2), ['test', 'signet', 'regtest']],
    ['litecoin', LITECOIN_MAIN, [REGTEST.litecoin.replace('rltc', 'tltc')], ['test', 'regtest']],
  ] as const)(
    'of another chain of %s is refused on a test chain, saying which one is meant: money sent there would be real, or lost',
    (network, main, test, chains) => {
      for (const chain of chains) {
        for (const address of main) {
          const check = checkPayoutAddress(network, address, chain);
          expect(check).toMatchObject({ kind: 'invalid', fault: { code: 'address_of_main', values: { chain } } });
        }
      }
      const others = chains.filter((chain) => chain !== 'regtest').map((chain) => [chain, REGTEST[network]] as const);
      for (const [chain, address] of [...others, ...test.map((address) => ['regtest', address] as const)]) {
        expect(checkPayoutAddress(network, address, chain).kind).toBe('invalid');
      }
      expect(checkPayoutAddress(network, REGTEST[network], 'regtest')).toEqual({
        kind: 'ok',
        address: REGTEST[network],
      });
      expect(checkPayoutAddress(network, REGTEST[network], ANY)).toEqual({ kind: 'ok', address: REGTEST[network] });
    },
  );

  it('of an unknown kind, or of 20 bytes more or less, is refused', () => {
    const base58check = createBase58check(sha256);
    const encoded = (version: number, length: number): string =>
      base58check.encode(Uint8Array.of(version, ...new Uint8Array(length).fill(7)));
    expect(checkPayoutAddress('bitcoin', encoded(0x00, 20), MAIN).kind).toBe('ok');
    // 0x1e is Dogecoin's.
    expect(checkPayoutAddress('bitcoin', encoded(0x1e, 20), ANY)).toMatchObject({
      kind: 'invalid',
      fault: { code: 'address_foreign' },
    });
    expect(checkPayoutAddress('bitcoin', encoded(0x00, 19), ANY).kind).toBe('invalid');
    expect(checkPayoutAddress('bitcoin', encoded(0x00, 32), ANY).kind).toBe('invalid');
  });

  it.each(EVM_NETWORKS)('of an EVM chain is checked by EIP-55: %s', (network) => {
    expect(checkPayoutAddress(network, EVM.toLowerCase(), MAIN)).toEqual({ kind: 'ok', address: EVM });
    expect(checkPayoutAddress(network, EVM.replace('aA', 'Aa'), MAIN).kind).toBe('invalid');
    expect(checkPayoutAddress(network, `0x${'0'.repeat(40)}`, MAIN)).toMatchObject({
      kind: 'invalid',
      fault: { code: 'address_zero' },
    });
    expect(checkPayoutAddress(network, '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', ANY).kind).toBe('invalid');
    expect(checkPayoutAddress('bitcoin', EVM, ANY).kind).toBe('invalid');
  });

  it('with one character changed is never taken as it is', () => {
    const alphabet = Array.from('023456789acdefghjklmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ');
    fc.assert(
      fc.property(
        fc.constantFrom(...BITCOIN_MAIN),
        fc.nat(),
        fc.constantFrom(...alphabet),
        (address, at, character) => {
          const i = at % address.length;
          const changed = address.slice(0, i) + character + address.slice(i + 1);
          fc.pre(changed !== address && changed !== address.toLowerCase());
          expect(checkPayoutAddress('bitcoin', changed, ANY).kind).toBe('invalid');
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is refused, never a fault and never slow, whatever was typed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        for (const network of ['bitcoin', 'litecoin', 'ethereum'] as const) {
          expect(checkPayoutAddress(network, text, ANY).kind).toBe('invalid');
        }
      }),
    );
    expect(checkPayoutAddress('bitcoin', '1'.repeat(1_000_000), ANY).kind).toBe('invalid');
  });
});

it('EVM addresses are compared in lower case, those of Bitcoin and Litecoin as they are', () => {
  expect(matchingAddress('ethereum', EVM)).toBe(EVM.toLowerCase());
  expect(matchingAddress('bsc', EVM)).toBe(EVM.toLowerCase());
  expect(matchingAddress('bitcoin', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')).toBe('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa');
});
