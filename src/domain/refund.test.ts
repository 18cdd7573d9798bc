import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_MONEY, type Payment, type Quote } from './payment.ts';
import { ETH_QUOTE, OWED_UNITS, paymentWith } from './payment.fixture.ts';
import { NOTHING_REFUNDED, refundableUnits, sizeRefund, type RefundedMoney } from './refund.ts';

/** A completed payment on which `confirmedUnits` are confirmed. */
function received(confirmedUnits: bigint, quote: Quote = ETH_QUOTE, amountMinor = 10_000n): Payment {
  const sums = { seenUnits: confirmedUnits, minedUnits: confirmedUnits, confirmedUnits };
  const received = { ...NO_MONEY, all: sums, inTime: sums };
  return paymentWith({ status: 'completed', quote, amountMinor, received });
}

/** Quotes as they are made: owed amounts of at most 8 decimals. */
const quote: fc.Arbitrary<Quote> = fc
  .record({ owedShown: fc.bigInt({ min: 1n, max: 10n ** 14n }), decimals: fc.constantFrom(6, 8, 18) })
  .map(({ owedShown, decimals }) => {
    const owedUnits = decimals === 18 ? owedShown * 10n ** 10n : owedShown;
    return { ...ETH_QUOTE, decimals, owedUnits, toleranceUnits: 0n };
  });
/** The largest part that 8 decimals can express. */
function shown(units: bigint, { decimals }: Quote): bigint {
  return decimals === 18 ? units - (units % 10n ** 10n) : units;
}

const amountMinor = fc.bigInt({ min: 1n, max: 100_000_000n });
const wish = fc.oneof(
  fc.constant(null),
  fc.record({ amountMinor }),
  fc.record({ units: fc.bigInt({ min: 1n, max: 10n ** 24n }) }),
);

/** Small parts, whose units are rounded most. */
const smallWish = fc.record({ amountMinor: fc.bigInt({ min: 1n, max: 300n }) });

function sumOf(refunds: readonly RefundedMoney[]): RefundedMoney {
  return refunds.reduce(
    (sum, { units, amountMinor: minor }) => ({ units: sum.units + units, amountMinor: sum.amountMinor + minor }),
    NOTHING_REFUNDED,
  );
}

describe('the sum of refunds', () => {
  it('never exceeds the confirmed money, in units or in shown amounts, whatever is requested and cancelled', () => {
    const attempt = fc.oneof(
      fc.record({ wish: fc.oneof(wish, smallWish) }),
      // A refund that fails or is cancelled gives back what it took.
      fc.record({ cancelled: fc.nat(20) }),
    );
    fc.assert(
      fc.property(
        quote,
        amountMinor,
        fc.integer({ min: 0, max: 300 }),
        fc.array(attempt, { maxLength: 60, size: 'max' }),
        (own, minor, percent, attempts) => {
          const confirmed = (own.owedUnits * BigInt(percent)) / 100n;
          const payment = received(confirmed, own, minor);
          const worth = (confirmed * minor) / own.owedUnits;
          const open: { readonly units: bigint; readonly amountMinor: bigint }[] = [];
          for (const each of attempts) {
            if ('cancelled' in each) open.splice(each.cancelled % Math.max(1, open.length), 1);
            const size = 'wish' in each ? sizeRefund(payment, sumOf(open), each.wish) : null;
            if (size?.kind === 'ok') open.push(size);
            expect(open.every(({ units }) => units > 0n)).toBe(true);
            expect(sumOf(open).units).toBeLessThanOrEqual(confirmed);
            expect(sumOf(open).amountMinor).toBeLessThanOrEqual(worth);
          }
          const { units } = sumOf(open);
          expect(refundableUnits(payment, sumOf(open))).toBe(shown(confirmed - units, own));
        },
      ),
    );
  });

  it('of many small amounts ends at what was received: the thousand-and-first cent of ten dollars is refused', () => {
    const bitcoin = received(16_667n, { ...ETH_QUOTE, asset: 'BTC', decimals: 8, owedUnits: 16_667n }, 1_000n);
    const open = Array.from({ length: 1_000 }, () => ({ units: 16n, amountMinor: 1n }));
    expect(sizeRefund(bitcoin, sumOf(open.slice(1)), { amountMinor: 1n })).toEqual({
      kind: 'ok',
      units: 16n,
      amountMinor: 1n,
    });
    expect(sizeRefund(bitcoin, sumOf(open), { amountMinor: 1n })).toEqual({
      kind: 'too_much',
      leftUnits: 667n,
      leftMinor: 0n,
    });
    // The units that rounding left over are the customer's still.
    expect(sizeRefund(bitcoin, sumOf(open), null)).toEqual({ kind: 'ok', units: 667n, amountMinor: 0n });
  });

  it('is everything after one refund without an amount: nothing is left over', () => {
    fc.assert(
      fc.property(quote, amountMinor, wish, (own, minor, first) => {
        const payment = received(own.owedUnits, own, minor);
        const opening = sizeRefund(payment, NOTHING_REFUNDED, first);
        const taken = opening.kind === 'ok' ? opening : NOTHING_REFUNDED;
        const rest = sizeRefund(payment, taken, null);
        const kept = own.owedUnits - taken.units - (rest.kind === 'ok' ? rest.units : 0n);
        expect(shown(kept, own)).toBe(0n);
        expect(sizeRefund(payment, { units: own.owedUnits, amountMinor: minor }, null)).toEqual({
          kind: 'nothing_left',
        });
      }),
    );
  });
});

it('without an amount is a number that JSON readers hold exactly, whatever arrived', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 24n }), (units) => {
      const size = sizeRefund(received(units), NOTHING_REFUNDED, null);
      const told = size.kind === 'ok' ? size.units : 0n;
      expect(told).toBe(shown(units, ETH_QUOTE));
      expect(units - told).toBeLessThan(10n ** 10n);
    }),
  );
});

describe('a refund of the full amount', () => {
  it('gives back exactly everything, whether it is asked for by amount or without one', () => {
    fc.assert(
      fc.property(quote, amountMinor, (own, minor) => {
        const payment = received(own.owedUnits, own, minor);
        const everything = { kind: 'ok', units: own.owedUnits, amountMinor: minor };
        expect(sizeRefund(payment, NOTHING_REFUNDED, null)).toEqual(everything);
        expect(sizeRefund(payment, NOTHING_REFUNDED, { amountMinor: minor })).toEqual(everything);
        expect(sizeRefund(payment, NOTHING_REFUNDED, { units: own.owedUnits })).toEqual(everything);
      }),
    );
  });
});

describe('a refund of a part', () => {
  it('is worth the amount at the locked quote, less than one shown unit less', () => {
    fc.assert(
      fc.property(quote, amountMinor, amountMinor, (own, minor, wanted) => {
        fc.pre(wanted <= minor);
        const size = sizeRefund(received(own.owedUnits, own, minor), NOTHING_REFUNDED, { amountMinor: wanted });
        const units = size.kind === 'ok' ? size.units : 0n;
        const shownUnit = own.decimals === 18 ? 10n ** 10n : 1n;
        expect(['ok', 'too_little']).toContain(size.kind);
        expect(units * minor).toBeLessThanOrEqual(wanted * own.owedUnits);
        expect((units + shownUnit) * minor).toBeGreaterThan(wanted * own.owedUnits);
        expect(units % shownUnit).toBe(0n);
      }),
    );
  });

  it('keeps the amount that was asked for, and counts one in crypto at the locked quote', () => {
    const payment = received(OWED_UNITS);
    expect(sizeRefund(payment, NOTHING_REFUNDED, { amountMinor: 2_500n })).toMatchObject({
      amountMinor: 2_500n,
      units: OWED_UNITS / 4n,
    });
    expect(sizeRefund(payment, NOTHING_REFUNDED, { units: OWED_UNITS / 5n })).toMatchObject({ amountMinor: 2_000n });
  });

  it('promises the very amount that was asked for, though its units are rounded down', () => {
    const bitcoin = received(166_667n, { ...ETH_QUOTE, decimals: 8, owedUnits: 166_667n });
    expect(sizeRefund(bitcoin, NOTHING_REFUNDED, { amountMinor: 3_333n })).toEqual({
      kind: 'ok',
      amountMinor: 3_333n,
      units: 55_550n,
    });
  });

  it('says how much is left when it is too much', () => {
    const half = { units: OWED_UNITS / 2n, amountMinor: 5_000n };
    expect(sizeRefund(received(OWED_UNITS), half, { amountMinor: 5_001n })).toEqual({
      kind: 'too_much',
      leftUnits: OWED_UNITS / 2n,
      leftMinor: 5_000n,
    });
  });

  it('is refused when it is worth less than the least unit', () => {
    const dear = { ...ETH_QUOTE, decimals: 8, owedUnits: 1n };
    expect(sizeRefund(received(1n, dear), NOTHING_REFUNDED, { amountMinor: 1n })).toEqual({ kind: 'too_little' });
  });
});

describe('what can be refunded', () => {
  it('is confirmed money only: what is merely seen or in a block is not', () => {
    const seen = { seenUnits: OWED_UNITS, minedUnits: OWED_UNITS, confirmedUnits: 0n };
    const payment = paymentWith({ received: { ...NO_MONEY, all: seen, inTime: seen } });
    expect(sizeRefund(payment, NOTHING_REFUNDED, null)).toEqual({ kind: 'nothing_left' });
  });

  it('includes late money and overpayment', () => {
    const late = paymentWith({
      status: 'expired',
      received: { ...NO_MONEY, all: received(3n * OWED_UNITS).received.all },
    });
    expect(refundableUnits(late, NOTHING_REFUNDED)).toBe(3n * OWED_UNITS);
    expect(sizeRefund(late, NOTHING_REFUNDED, null)).toMatchObject({
      kind: 'ok',
      units: 3n * OWED_UNITS,
      amountMinor: 30_000n,
    });
  });

  it('is nothing, never less, once a reorganisation took the money that was refunded', () => {
    const all = { units: OWED_UNITS, amountMinor: 10_000n };
    expect(refundableUnits(received(0n), all)).toBe(0n);
    expect(sizeRefund(received(0n), all, null)).toEqual({ kind: 'nothing_left' });
  });

  it('is shown as worth nothing, never less, if more was shown before than is left', () => {
    const taken = { units: OWED_UNITS / 4n, amountMinor: 10_000n };
    expect(sizeRefund(received(OWED_UNITS / 2n), taken, null)).toEqual({
      kind: 'ok',
      units: OWED_UNITS / 4n,
      amountMinor: 0n,
    });
    expect(sizeRefund(received(OWED_UNITS / 2n), taken, { amountMinor: 1n })).toMatchObject({
      kind: 'too_much',
      leftMinor: 0n,
    });
  });

  it('is nothing before a token was chosen', () => {
    expect(sizeRefund(paymentWith({ quote: null }), NOTHING_REFUNDED, null)).toEqual({ kind: 'nothing_left' });
    const unquoted = paymentWith({ quote: null, received: received(OWED_UNITS).received });
    expect(sizeRefund(unquoted, NOTHING_REFUNDED, null)).toEqual({ kind: 'nothing_left' });
  });
});
