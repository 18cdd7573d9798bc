import { secp256k1 } from '@noble/curves/secp256k1.js';
import { HDKey } from '@scure/bip32';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { childKeys, keyNode } from './child-key.ts';
import { parseTreasury } from './evm/deposit.ts';
import { parseEvmXpub } from './evm/wallet.ts';
import { addMultiplesOfBase } from './point-sums.ts';
import { utxoParams } from './utxo/params.ts';
import { parseUtxoWallet } from './utxo/wallet.ts';
import type { WalletDeriver } from './chain.ts';

const { Point } = secp256k1;
const ORDER = Point.Fn.ORDER;

function account(seed: number): HDKey {
  return HDKey.fromMasterSeed(new Uint8Array(32).fill(seed)).derive("m/84'/0'/0'");
}

describe('children derived together', () => {
  it('are those of BIP 32, as another implementation derives them one by one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 255 }),
        fc.nat(2 ** 31 - 40),
        fc.integer({ min: 0, max: 40 }),
        (seed, from, count) => {
          const reference = account(seed);
          const node = keyNode(reference.publicKey ?? new Uint8Array(), reference.chainCode ?? new Uint8Array());
          const children = childKeys(node, from, count).map(({ publicKey, chainCode }) => ({ publicKey, chainCode }));
          const expected = Array.from({ length: count }, (_, place) => {
            const { publicKey, chainCode } = reference.deriveChild(from + place);
            return { publicKey, chainCode };
          });
          expect(children).toEqual(expected);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('end at the last index', () => {
    const { publicKey, chainCode } = account(1);
    const node = keyNode(publicKey ?? new Uint8Array(), chainCode ?? new Uint8Array());
    expect(childKeys(node, 2 ** 31 - 1, 1)).toHaveLength(1);
    expect(() => childKeys(node, 2 ** 31 - 1, 2)).toThrow(RangeError);
    expect(() => childKeys(node, -1, 1)).toThrow(RangeError);
  });
});

describe('points summed together', () => {
  const scalars = fc.oneof(
    fc.bigInt({ min: 1n, max: ORDER - 1n }),
    fc.bigInt({ min: 1n, max: 2_000n }),
    fc.bigInt({ min: 1n, max: 2_000n }).map((small) => ORDER - small),
    // Digits that carry over from one window to the next.
    fc.constantFrom(2n ** 255n, 2n ** 256n - 2n ** 128n - ORDER, (1n << 250n) - 1n, (1n << 10n) + 513n),
  );

  it('are what the library sums one by one, also where the addend is the point itself', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(scalars, scalars), { maxLength: 12 }), (all) => {
        const addends = all
          .filter(([own, added]) => (own + added) % ORDER !== 0n)
          .map(([own, scalar]) => ({ point: Point.BASE.multiply(own).toAffine(), scalar }));
        const expected = addends.map(({ point, scalar }) =>
          Point.fromAffine(point).add(Point.BASE.multiply(scalar)).toAffine(),
        );
        expect(addMultiplesOfBase(addends)).toEqual(expected);
      }),
      // A point that one digit of its scalar cancels out: 1,537 is 2,048 less 511.
      { numRuns: 100, examples: [[[[511n, 1_537n]]]] },
    );
  });

  it('are refused where a sum has no coordinates', () => {
    const point = Point.BASE.toAffine();
    expect(() =>
      addMultiplesOfBase([
        { point, scalar: 5n },
        { point, scalar: ORDER - 1n },
      ]),
    ).toThrow(RangeError);
  });
});

const key = (seed: number): string => account(seed).publicExtendedKey;
const bitcoin = (text: string): WalletDeriver => {
  const params = utxoParams('bitcoin', 'main');
  if (params === null) throw new Error('Bitcoin has a main chain.');
  const parsed = parseUtxoWallet(params, { kind: 'descriptor', text });
  if (parsed.kind === 'invalid') throw new Error(parsed.message);
  return parsed.deriver;
};
const evm = (parsed: ReturnType<typeof parseEvmXpub> | ReturnType<typeof parseTreasury>): WalletDeriver => {
  if (parsed.kind === 'invalid') throw new Error(parsed.message);
  return parsed.deriver;
};

it.each([
  ['P2PKH', bitcoin(`pkh(${key(1)}/0/*)`)],
  ['P2WPKH', bitcoin(`wpkh(${key(1)}/0/*)`)],
  ['P2SH-P2WPKH', bitcoin(`sh(wpkh(${key(1)}/0/*))`)],
  ['Taproot', bitcoin(`tr(${key(1)}/0/*)`)],
  ['multisignature', bitcoin(`wsh(sortedmulti(2,${key(1)}/0/*,${key(2)}/0/*,${key(3)}/0/*))`)],
  ['an EVM xpub', evm(parseEvmXpub(HDKey.fromMasterSeed(new Uint8Array(32)).derive("m/44'/60'/0'").publicExtendedKey))],
  ['deposit contracts', evm(parseTreasury('0x52908400098527886E0F7030069857D2E4169EE7'))],
])('addresses of %s derived together are those derived one by one', (_, deriver) => {
  fc.assert(
    fc.property(fc.nat(100_000), fc.integer({ min: 0, max: 20 }), (from, count) => {
      const oneByOne = Array.from({ length: count }, (_, place) => deriver.addressAt(from + place));
      expect(deriver.addressesAt(from, count)).toEqual(oneByOne);
    }),
    { numRuns: 10 },
  );
});
