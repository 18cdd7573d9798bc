import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  NO_MERCHANT_FIELDS,
  NO_MONEY,
  blankPayment,
  inTimeUntil,
  requiredUnits,
  untracedHash,
  type Transfer,
} from './payment.ts';
import { sumTransfers } from './sum-transfers.ts';
import {
  BTC_QUOTE,
  ETH_QUOTE,
  EXPIRES_AT,
  MINUTE_MS,
  OWED_UNITS,
  paymentWith,
  transferWith,
} from './payment.fixture.ts';

const transfer: fc.Arbitrary<Transfer> = fc
  .record({
    transactionHash: fc.constantFrom('0x01', '0x02', '0x03', '0x04'),
    ownAsset: fc.boolean(),
    amountUnits: fc.bigInt({ min: 1n, max: 2n * OWED_UNITS }),
    firstSeenAt: fc.integer({ min: EXPIRES_AT - 5, max: EXPIRES_AT + 5 }),
    blockAt: fc.option(fc.integer({ min: EXPIRES_AT - 5, max: EXPIRES_AT + 5 })),
    state: fc.constantFrom('seen', 'mined', 'confirmed', 'dropped'),
  })
  .map(({ ownAsset, ...facts }) => transferWith({ ...facts, asset: ownAsset ? 'ETH' : 'USDT' }));

describe('the sum of transfers', () => {
  it('adds up every live transfer of the quote’s asset once: no money appears or vanishes', () => {
    fc.assert(
      fc.property(fc.array(transfer), (transfers) => {
        const sum = (...states: readonly Transfer['state'][]): bigint =>
          transfers
            .filter((each) => each.asset === 'ETH' && states.includes(each.state))
            .reduce((total, each) => total + each.amountUnits, 0n);
        expect(sumTransfers(ETH_QUOTE, transfers, EXPIRES_AT).all).toEqual({
          seenUnits: sum('seen', 'mined', 'confirmed'),
          minedUnits: sum('mined', 'confirmed'),
          confirmedUnits: sum('confirmed'),
        });
      }),
    );
  });

  it('splits at the deadline: in time is what the timely transfers alone add up to', () => {
    fc.assert(
      fc.property(fc.array(transfer), (transfers) => {
        const timely = transfers.filter(
          (each) => each.firstSeenAt < EXPIRES_AT || (each.blockAt ?? Infinity) < EXPIRES_AT,
        );
        expect(sumTransfers(ETH_QUOTE, transfers, EXPIRES_AT).inTime).toEqual(
          sumTransfers(ETH_QUOTE, timely, Infinity).all,
        );
      }),
    );
  });

  it('does not depend on the order in which the rail lists the transfers', () => {
    fc.assert(
      fc.property(fc.array(transfer), (transfers) => {
        const listed = sumTransfers(ETH_QUOTE, transfers, EXPIRES_AT);
        expect(sumTransfers(ETH_QUOTE, transfers.toReversed(), EXPIRES_AT)).toEqual(listed);
      }),
    );
  });

  it('counts in time by the earlier of first sight and block time, the deadline itself excluded', () => {
    const seenInTime = (facts: Partial<Transfer>): boolean =>
      sumTransfers(ETH_QUOTE, [transferWith(facts)], EXPIRES_AT).inTime.seenUnits > 0n;
    expect(seenInTime({ firstSeenAt: EXPIRES_AT - 1 })).toBe(true);
    expect(seenInTime({ firstSeenAt: EXPIRES_AT })).toBe(false);
    expect(seenInTime({ firstSeenAt: EXPIRES_AT + MINUTE_MS, blockAt: EXPIRES_AT - 1 })).toBe(true);
    expect(seenInTime({ firstSeenAt: EXPIRES_AT + MINUTE_MS, blockAt: EXPIRES_AT })).toBe(false);
    expect(seenInTime({ firstSeenAt: EXPIRES_AT - 1, blockAt: EXPIRES_AT + MINUTE_MS })).toBe(true);
  });

  it('never adds another asset, nor the same asset on another network', () => {
    const strangers = [transferWith({ asset: 'USDT' }), transferWith({ network: 'base' })];
    expect(sumTransfers(ETH_QUOTE, strangers, EXPIRES_AT)).toEqual(NO_MONEY);
    expect(sumTransfers(BTC_QUOTE, [transferWith()], EXPIRES_AT)).toEqual(NO_MONEY);
  });

  it('never counts money as in time whose transaction no node could show, and names it as no payment’s hash', () => {
    const untraced = transferWith({ transactionHash: untracedHash('0xaddress'), state: 'confirmed' });
    const received = sumTransfers(ETH_QUOTE, [untraced], EXPIRES_AT);
    expect(received.all.confirmedUnits).toBe(OWED_UNITS);
    expect(received).toMatchObject({ inTime: NO_MONEY.inTime, transactionHash: null });
  });

  it('counts nothing for a transfer that was dropped', () => {
    expect(sumTransfers(ETH_QUOTE, [transferWith({ state: 'dropped' })], EXPIRES_AT)).toEqual(NO_MONEY);
  });
});

describe('the hash of a payment', () => {
  const part = (transactionHash: string, minute: number): Transfer =>
    transferWith({
      transactionHash,
      amountUnits: OWED_UNITS / 2n,
      firstSeenAt: EXPIRES_AT - (20 - minute) * MINUTE_MS,
    });
  const hash = (...transfers: readonly Transfer[]): string | null =>
    sumTransfers(ETH_QUOTE, transfers, EXPIRES_AT).transactionHash;

  it('is of the transfer that reached the amount, not of one before or after', () => {
    expect(hash(part('0x03', 3), part('0x01', 1), part('0x02', 2))).toBe('0x02');
  });

  it('is of the one that reached all but the tolerance, however much comes after', () => {
    const least = { ...part('0x01', 1), amountUnits: requiredUnits(ETH_QUOTE) };
    expect(hash(least, part('0x02', 2))).toBe('0x01');
  });

  it('goes by the blocks where two arrived in the same second, and what waits comes last', () => {
    const at = (transactionHash: string, blockHeight: number | null): Transfer => ({
      ...part(transactionHash, 1),
      blockHeight,
    });
    expect(hash(at('0x01', 8), at('0x02', 7))).toBe('0x01');
    expect(hash(at('0x01', null), at('0x02', 7))).toBe('0x01');
  });

  it('goes by their places in the block where two of one block were first seen together', () => {
    const at = (transactionHash: string, blockPosition: number | null): Transfer => ({
      ...part(transactionHash, 1),
      blockHeight: 7,
      blockPosition,
    });
    expect(hash(at('0x01', 8), at('0x02', 7))).toBe('0x01');
    expect(hash(at('0x01', null), at('0x02', 7))).toBe('0x01');
  });

  it('is of the transfer that reached the amount, whatever the blocks’ times, the hashes and the order of the list', () => {
    /** Each transfer in the order of its arrival: whether a look, a block, lies between it and the one before. */
    const arrivals = fc.array(
      fc.record({
        isNewLook: fc.boolean(),
        isNewBlock: fc.boolean(),
        units: fc.bigInt({ min: 1n, max: OWED_UNITS }),
        stampedMs: fc.integer({ min: -2 * 60 * MINUTE_MS, max: 2 * 60 * MINUTE_MS }),
        hash: fc.nat(),
        rank: fc.nat(),
      }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(arrivals, (coming) => {
        let [seenAt, height, position] = [EXPIRES_AT - 20 * MINUTE_MS, 1, 0];
        const came = coming.map(({ isNewLook, isNewBlock, units, stampedMs, hash: drawn, rank }, number) => {
          if (isNewLook) seenAt += 500;
          if (isNewBlock) [height, position] = [height + 1, 0];
          position += 1;
          const transactionHash = `${drawn} ${number}`;
          const where = { blockHeight: height, blockPosition: position, blockAt: seenAt + stampedMs };
          const facts = { transactionHash, amountUnits: units, firstSeenAt: seenAt, state: 'mined', ...where } as const;
          return { transfer: transferWith(facts), rank };
        });
        let sum = 0n;
        const reached = came.find(({ transfer }) => (sum += transfer.amountUnits) >= requiredUnits(ETH_QUOTE));
        const listed = came.toSorted((a, b) => a.rank - b.rank).map(({ transfer }) => transfer);
        expect(hash(...listed)).toBe((reached ?? came.at(-1))?.transfer.transactionHash);
      }),
    );
  });

  it('is of what is deepest, where that is enough: what only waits may still be replaced', () => {
    const full = (transactionHash: string, minute: number, state: Transfer['state']): Transfer => ({
      ...part(transactionHash, minute),
      amountUnits: OWED_UNITS,
      state,
    });
    expect(hash(full('0x01', 1, 'seen'), full('0x02', 2, 'mined'))).toBe('0x02');
    expect(hash(full('0x01', 1, 'mined'), full('0x02', 2, 'confirmed'))).toBe('0x02');
    expect(hash(full('0x01', 1, 'seen'), { ...full('0x02', 2, 'mined'), amountUnits: 1n })).toBe('0x01');
    const half = { ...part('0x03', 3), state: 'confirmed' as const };
    expect(hash(full('0x01', 1, 'seen'), full('0x02', 2, 'mined'), half)).toBe('0x02');
  });

  it('is of the latest and deepest transfer while the amount is not reached, and null without any', () => {
    const little = (transactionHash: string, minute: number, state: Transfer['state'] = 'seen'): Transfer => ({
      ...part(transactionHash, minute),
      amountUnits: 1n,
      state,
    });
    expect(hash(part('0x01', 1))).toBe('0x01');
    expect(hash(little('0x01', 1), little('0x02', 2))).toBe('0x02');
    expect(hash(little('0x01', 1, 'mined'), little('0x02', 2, 'mined'), little('0x03', 3))).toBe('0x02');
    expect(hash(little('0x01', 1, 'mined'), little('0x02', 2))).toBe('0x01');
    expect(hash(little('0x01', 1, 'confirmed'), little('0x02', 2, 'mined'))).toBe('0x01');
    const confirmed = [little('0x01', 1, 'confirmed'), little('0x02', 2, 'confirmed')];
    expect(hash(...confirmed, little('0x03', 3, 'mined'), little('0x04', 4))).toBe('0x02');
    expect(hash()).toBeNull();
  });
});

it('a payment to which nothing has happened is created, without money, exception or end', () => {
  const { id, projectId, createdAt, expiresAt } = paymentWith();
  const facts = { id, projectId, createdAt, expiresAt, mode: 'live', api: 'order' } as const;
  const amount = { amountMinor: 1n, currency: 'USD', amountUsdCents: 1n } as const;
  expect(blankPayment({ ...facts, ...amount })).toEqual({
    ...facts,
    ...amount,
    ...NO_MERCHANT_FIELDS,
    status: 'created',
    exception: 'none',
    failureReason: null,
    transactionNumber: null,
    quote: null,
    received: NO_MONEY,
    transactionHash: null,
    completedOnUnits: null,
    graceUntil: null,
    completedAt: null,
    cancelledAt: null,
    endedByHand: null,
    completesAt: null,
    confirmingSent: false,
    lastSequence: 0,
  });
});

describe('what a payment asks for', () => {
  it('is the owed amount less the tolerance', () => {
    expect(requiredUnits(ETH_QUOTE)).toBe(ETH_QUOTE.owedUnits - ETH_QUOTE.toleranceUnits);
  });

  it('is in time until expiry, until the end of the grace, or until it was cancelled', () => {
    expect(inTimeUntil(paymentWith())).toBe(EXPIRES_AT);
    expect(inTimeUntil(paymentWith({ graceUntil: EXPIRES_AT + MINUTE_MS }))).toBe(EXPIRES_AT + MINUTE_MS);
    expect(inTimeUntil(paymentWith({ cancelledAt: EXPIRES_AT - MINUTE_MS }))).toBe(EXPIRES_AT - MINUTE_MS);
  });
});
