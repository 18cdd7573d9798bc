import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchPayouts, type KnownPayout, type PayableRefund, type PayoutTransfer } from './refund-payout.ts';
import { REFUND_STATUSES } from './refund.ts';

// Few values of each, so that most things meet.
const small = fc.nat({ max: 2 });
const coins = fc.uniqueArray(
  small.map((number) => `coin:${number}`),
  { maxLength: 2 },
);
const terms = fc.record({
  asset: fc.constantFrom('BTC', 'USDT'),
  address: small.map((number) => `address ${number}`),
});
const refunds: fc.Arbitrary<readonly PayableRefund[]> = fc
  .array(
    fc.record({
      terms,
      units: fc.constantFrom(1n, 2n),
      status: fc.constantFrom(...REFUND_STATUSES),
      createdAt: fc.nat({ max: 40 }),
      inputs: coins,
    }),
    { maxLength: 6 },
  )
  .map((list) => list.map(({ terms: { asset, address }, ...rest }, at) => ({ id: `${at}`, asset, address, ...rest })));
const transfers: fc.Arbitrary<readonly PayoutTransfer[]> = fc
  .uniqueArray(
    fc.record({
      terms,
      transactionHash: small.map((number) => `hash ${number}`),
      index: small,
      amount: fc.constantFrom(1n, 2n),
      blockAt: fc.option(fc.nat({ max: 40 })),
    }),
    { maxLength: 6, selector: (one) => `${one.transactionHash} ${one.terms.asset} ${one.index}` },
  )
  .map((list) => list.map(({ terms: each, ...rest }) => ({ ...each, ...rest })));
const spendings = fc
  .tuple(coins, coins, coins)
  .map((lists) => new Map(lists.map((list, number) => [`hash ${number}`, list])));

interface Known {
  readonly refund: number;
  readonly transactionHash: string;
  readonly index: number;
  readonly state: KnownPayout['state'];
  readonly isGuess: boolean;
}
const knowns: fc.Arbitrary<readonly Known[]> = fc.uniqueArray(
  fc.record({
    refund: fc.nat({ max: 5 }),
    transactionHash: fc.nat({ max: 4 }).map((number) => `hash ${number}`),
    index: small,
    state: fc.constantFrom('block', 'waiting', 'dropped'),
    isGuess: fc.boolean(),
  }),
  { maxLength: 4, selector: ({ transactionHash, index }) => `${transactionHash} ${index}` },
);
const world = fc.record({ refunds, transfers, spends: spendings, knowns }).map(({ knowns: list, ...rest }) => ({
  ...rest,
  known: list.flatMap(({ refund: at, ...row }): readonly KnownPayout[] => {
    const refund = rest.refunds[at];
    if (refund === undefined) return [];
    return [{ ...row, refundId: refund.id, asset: refund.asset, spends: rest.spends.get(row.transactionHash) ?? [] }];
  }),
}));
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

function matched({ transfers: list, refunds: all, known, spends }: World) {
  return matchPayouts(list, all, known, spends).map(({ refundId, transfer, isGuess }) => {
    const refund = all.find(({ id }) => id === refundId);
    if (refund === undefined) throw new Error('no such refund');
    const spent = spends.get(transfer.transactionHash) ?? [];
    const isSeen = known.some(
      (one) =>
        one.refundId === refundId &&
        (one.transactionHash === transfer.transactionHash || one.spends.some((coin) => spent.includes(coin))),
    );
    return { refund, transfer, isGuess, isSeen, isShown: refund.inputs.some((coin) => spent.includes(coin)) };
  });
}

function fits(refund: PayableRefund, transfer: PayoutTransfer): boolean {
  return refund.asset === transfer.asset && refund.units === transfer.amount && refund.address === transfer.address;
}

const RUNS = { numRuns: 3_000 };

describe('whatever refunds and transfers there are', () => {
  it('a transfer pays one refund at most, and exactly what that promises', () => {
    fc.assert(
      fc.property(world, (each) => {
        const matches = matched(each);
        expect(new Set(matches.map(({ transfer }) => transfer)).size).toBe(matches.length);
        for (const { refund, transfer } of matches) expect(fits(refund, transfer)).toBe(true);
      }),
      RUNS,
    );
  });

  it('a transfer that was seen to pay a refund never pays another', () => {
    fc.assert(
      fc.property(world, (each) => {
        const matches = matched(each);
        for (const one of each.known) {
          const owner = each.refunds.find(({ id }) => id === one.refundId);
          const transfer = each.transfers.find(
            ({ transactionHash, asset, index }) =>
              transactionHash === one.transactionHash && asset === one.asset && index === one.index,
          );
          if (owner === undefined || transfer === undefined || !fits(owner, transfer)) continue;
          expect(matches.find((match) => match.transfer === transfer)?.refund).toBe(owner);
        }
      }),
      RUNS,
    );
  });

  it('a refund that was cancelled gets nothing but guesses that was not known for its own', () => {
    fc.assert(
      fc.property(world, (each) => {
        const unknown = matched(each).filter(({ isSeen, isShown }) => !isSeen && !isShown);
        expect(unknown.filter(({ refund, isGuess }) => refund.status === 'failed' && !isGuess)).toEqual([]);
        // A waiting transfer may be paid for a refund that is made before its block.
        expect(unknown.filter(({ isGuess, transfer }) => isGuess && transfer.blockAt === null)).toEqual([]);
      }),
      RUNS,
    );
  });

  it('no two unknown transfers of blocks pay one refund, nor one a refund that a block pays already, but as a guess', () => {
    fc.assert(
      fc.property(world, (each) => {
        const mined = new Set(each.known.filter(({ state }) => state === 'block').map(({ refundId }) => refundId));
        const inBlocks = matched(each).filter(({ transfer }) => transfer.blockAt !== null);
        for (const { refund, isSeen, isShown, isGuess } of inBlocks) {
          if (isSeen || isShown || (isGuess && refund.status !== 'failed')) continue;
          expect(mined.has(refund.id)).toBe(false);
          mined.add(refund.id);
        }
        for (const match of inBlocks.filter(({ isGuess, isSeen }) => isGuess && !isSeen)) {
          const { refund } = match;
          const isPaid = inBlocks.some((other) => other !== match && other.refund.id === refund.id);
          expect(refund.status === 'failed' || isPaid || mined.has(refund.id)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it('no transfer is left over that pays a waiting refund which nothing else pays', () => {
    fc.assert(
      fc.property(world, (each) => {
        const matches = matched(each);
        const paid = new Set([
          ...each.known.filter(({ state }) => state !== 'dropped').map(({ refundId }) => refundId),
          ...matches.map(({ refund }) => refund.id),
        ]);
        for (const transfer of each.transfers) {
          if (matches.some((match) => match.transfer === transfer)) continue;
          const waiting = each.refunds.filter(
            (refund) => refund.status === 'pending' && fits(refund, transfer) && !paid.has(refund.id),
          );
          expect(waiting).toEqual([]);
        }
      }),
      RUNS,
    );
  });
});
