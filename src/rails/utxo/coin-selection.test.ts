import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fundingOf, selectCoins, type Coin, type Payout } from './coin-selection.ts';
import { scriptOfAddress, type WalletOutput } from './output.ts';
import { paramsOf, publicKeyAt, walletOf } from './wallet.fixture.ts';

const params = paramsOf('bitcoin', 'main');

function keyAt(path: string): string {
  return `[73c5da0a${path.slice(1)}]${publicKeyAt(path, 'xpub')}/<0;1>/*`;
}

const FORMS: readonly WalletOutput[] = [
  `pkh(${keyAt("m/44'/0'/0'")})`,
  `sh(wpkh(${keyAt("m/49'/0'/0'")}))`,
  `wpkh(${keyAt("m/84'/0'/0'")})`,
  `tr(${keyAt("m/86'/0'/0'")})`,
  `wsh(sortedmulti(2,${["m/48'/0'/0'/2'", "m/48'/0'/1'/2'", "m/48'/0'/2'/2'"].map(keyAt).join(',')}))`,
].map((text) => walletOf(params, 'descriptor', text).deriver.outputAt(0));
const WPKH = walletOf(params, 'descriptor', `wpkh(${keyAt("m/84'/0'/0'")})`).deriver.outputAt(9);

function payout(over: Partial<Payout> = {}): Payout {
  return {
    network: 'bitcoin',
    payUnits: 60_000n,
    payScripts: [scriptOfAddress(params, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')],
    change: WPKH,
    feeUnitsPerKvb: 10_000n,
    ...over,
  };
}

const free = (amountUnits: bigint): Coin => ({ amountUnits, use: 'free' });

function amountsOf(selection: ReturnType<typeof selectCoins>): readonly bigint[] {
  if (selection.kind !== 'ok') throw new Error(selection.kind);
  return selection.coins.map(({ amountUnits }) => amountUnits);
}

describe('the coins of a payout', () => {
  it('are the smallest one that is enough, whatever the order in which they are given', () => {
    const coins = [free(500_000n), free(62_000n), free(61_000n), free(30_000n), free(90_000n)];
    expect(amountsOf(selectCoins(payout(), coins))).toEqual([62_000n]);
    expect(amountsOf(selectCoins(payout(), coins.toReversed()))).toEqual([62_000n]);
  });

  it('are the largest until it is enough, and then the smallest that does', () => {
    const coins = [20_000n, 30_000n, 31_000n, 40_000n].map(free);
    expect(amountsOf(selectCoins(payout(), coins))).toEqual([40_000n, 30_000n]);
  });

  it('are those first that are to go first, and those always that are held', () => {
    const held: Coin = { amountUnits: 300n, use: 'held' };
    const coins = [free(500_000n), { amountUnits: 50_000n, use: 'first' as const }, held, free(20_000n)];
    expect(amountsOf(selectCoins(payout(), coins))).toEqual([300n, 50_000n, 20_000n]);
  });

  it('are never such as cost more than they are worth', () => {
    // A P2WPKH input has 68 virtual bytes: 680 units at this rate.
    const dust = Array.from({ length: 500 }, () => free(680n));
    expect(selectCoins(payout(), [free(60_000n), ...dust])).toEqual({ kind: 'short', missingUnits: 1_100n });
    expect(amountsOf(selectCoins(payout(), [...dust, free(60_000n), free(2_000n)]))).toEqual([60_000n, 2_000n]);
    expect(selectCoins(payout(), dust)).toMatchObject({ kind: 'short' });
    expect(selectCoins(payout(), [])).toMatchObject({ kind: 'short' });
  });

  it('are no more than nodes pass on in one transaction', () => {
    const coins = Array.from({ length: 2_000 }, () => free(10_000n));
    expect(selectCoins(payout({ payUnits: 18_000_000n }), coins)).toMatchObject({ kind: 'too_large' });
    // One larger coin is enough, wherever it stands.
    expect(amountsOf(selectCoins(payout({ payUnits: 18_000_000n }), [...coins, free(19_000_000n)]))).toHaveLength(1);
  });

  it('fall short only where all that are worth spending do, and are enough for payout and fee where they do not', () => {
    const amount = fc.bigInt({ min: 300n, max: 200_000n });
    const use = fc.constantFrom<Coin['use']>('held', 'first', 'free');
    const property = fc.property(
      fc.array(fc.record({ amountUnits: amount, use }), { maxLength: 30 }),
      fc.bigInt({ min: 546n, max: 900_000n }),
      fc.bigInt({ min: 0n, max: 100_000n }),
      fc.constantFrom(...FORMS),
      (coins, payUnits, feeUnitsPerKvb, output) => {
        const asked = payout({ payUnits, feeUnitsPerKvb, change: output });
        const fundingBy = (some: readonly Coin[]) =>
          fundingOf(
            asked,
            some.map(({ amountUnits }) => ({ amountUnits, output })),
          );
        const selection = selectCoins(asked, coins);
        const held = coins.filter((coin) => coin.use === 'held');
        if (selection.kind === 'ok') {
          const chosen = new Set(selection.coins);
          const isWhole = chosen.size === selection.coins.length && held.every((coin) => chosen.has(coin));
          return isWhole && fundingBy(selection.coins).kind === 'ok';
        }
        // No choice of the others beside those held would do: the largest ones are the best of each size.
        const others = coins
          .filter((coin) => coin.use !== 'held')
          .toSorted((a, b) => (a.amountUnits < b.amountUnits ? 1 : -1));
        const counts = Array.from({ length: others.length + 1 }, (_, count) => count);
        return counts.every((count) => fundingBy([...held, ...others.slice(0, count)]).kind === 'short');
      },
    );
    expect(fc.check(property, { numRuns: 300 })).toMatchObject({ failed: false });
  });
});
