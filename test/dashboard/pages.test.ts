import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIATS } from '../../src/domain/money.ts';
import { MAIL_LANGUAGES } from '../../src/domain/notification.ts';
import { ETH_QUOTE, paymentWith } from '../../src/domain/payment.fixture.ts';
import { NO_MONEY } from '../../src/domain/payment.ts';
import { NOTHING_REFUNDED, sizeRefund } from '../../src/domain/refund.ts';
import type { TimelineEntry } from '../../src/http/dashboard/payments/contract.ts';
import { formatsOf } from '../../web/dashboard/formats.ts';
import { homeSearch } from '../../web/dashboard/pages/home/search.ts';
import { stepsOf } from '../../web/dashboard/pages/payments/payment/history.ts';
import { paymentsSearch, unreadFilters } from '../../web/dashboard/pages/payments/search.ts';
import { formatUnits, parseUnits } from '../../web/dashboard/decimal.ts';
import { refundSize, type RefundUnit } from '../../web/dashboard/pages/payments/refund/refund-size.ts';
import { reportsSearch } from '../../web/dashboard/pages/reports/search.ts';
import { moneyShares } from '../../web/dashboard/pages/payments/payment/shares.ts';
import { niceTop } from '../../web/dashboard/ui/chart/scale.ts';

const decimal = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.integer({ min: 0, max: 18 }))
  .map(([units, decimals]) => {
    const digits = units.toString().padStart(decimals + 1, '0');
    return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  });

describe('the bar of a payment’s money', () => {
  it('shows the exact shares that are confirmed, only seen, in excess and refunded', () => {
    const shares = (expected: string, received: string, confirmed: string, refunded = '0') =>
      moneyShares({ expected, received, confirmed, refunded });
    expect(shares('0.00616', '0.00576', '0.00576')).toEqual({ confirmed: 93.5, seen: 0, excess: 0, refunded: 0 });
    expect(shares('120', '120', '30')).toEqual({ confirmed: 25, seen: 75, excess: 0, refunded: 0 });
    expect(shares('120', '150', '150', '37.5')).toEqual({ confirmed: 80, seen: 0, excess: 20, refunded: 25 });
    expect(shares('0', '0', '0')).toEqual({ confirmed: 0, seen: 0, excess: 0, refunded: 0 });
  });

  it('never exceeds its length, whatever was received', () => {
    fc.assert(
      fc.property(decimal, decimal, decimal, decimal, (expected, received, confirmed, refunded) => {
        const shares = moneyShares({ expected, received, confirmed, refunded });
        for (const part of Object.values(shares)) expect(part).toBeGreaterThanOrEqual(0);
        expect(shares.refunded).toBeLessThanOrEqual(100);
        expect(shares.confirmed + shares.seen + shares.excess).toBeLessThanOrEqual(100.0001);
      }),
    );
  });
});

describe('the history of a payment', () => {
  type EntryOf<Kind extends TimelineEntry['kind']> = Extract<TimelineEntry, { readonly kind: Kind }>;
  const at = (second: number, ms = 0): string => new Date(Date.UTC(2026, 10, 22, 14, 0, second, ms)).toISOString();
  const status = (
    time: string,
    from: EntryOf<'status'>['from'],
    to: EntryOf<'status'>['to'],
    cause = 'money',
  ): TimelineEntry => ({ kind: 'status', at: time, from, to, cause });
  const event = (time: string, type: string): TimelineEntry => ({
    kind: 'event',
    at: time,
    id: `evt_${type}`,
    type,
    deliveries: [],
  });
  const action = (time: string, name: string): TimelineEntry => ({
    kind: 'action',
    at: time,
    action: name,
    by: 'mara@example.com',
    by_name: null,
    detail: null,
  });
  const refund = (time: string, what: EntryOf<'refund'>['what']): TimelineEntry => ({
    kind: 'refund',
    at: time,
    what,
    by: null,
    by_name: null,
    refund: {
      id: 'rfd_1',
      status: 'completed',
      amount: '10',
      currency: 'USD',
      asset: 'BTC',
      network: 'bitcoin',
      crypto_amount: '0.0001',
      address: null,
      claim_url: null,
      reason: null,
      failure_reason: null,
      transaction_hash: null,
      explorer_url: null,
      created_at: time,
      completed_at: null,
      can: { sign: false, cancel: false },
    },
  });
  const shown = (timeline: readonly TimelineEntry[]) =>
    stepsOf(timeline).map(({ entry, action: by, events }) => [
      entry.kind === 'status'
        ? entry.to
        : entry.kind === 'event'
          ? entry.type
          : entry.kind === 'action'
            ? entry.action
            : entry.kind,
      ...(by === null ? [] : [by.action]),
      ...events.map(({ type }) => type),
    ]);

  it('says everything once: an action and its events beside what they did', () => {
    expect(
      shown([
        status(at(0), null, 'created'),
        action(at(0, 4), 'payment.create'),
        event(at(0, 4), 'order.created'),
        status(at(1), 'created', 'pending', 'token_chosen'),
        status(at(2), 'pending', 'processing', 'settled'),
        status(at(2), 'processing', 'confirming', 'settled'),
        status(at(2), 'confirming', 'completed', 'settled'),
        event(at(2), 'order.confirming'),
        event(at(2), 'order.completed'),
        event(at(2), 'order.exception'),
        action(at(2, 9), 'payment.simulate'),
        refund(at(30), 'created'),
        event(at(30, 1), 'refund.created'),
        refund(at(40), 'completed'),
        event(at(40), 'refund.completed'),
      ]),
    ).toEqual([
      ['created', 'payment.create', 'order.created'],
      ['pending'],
      ['completed', 'payment.simulate', 'order.confirming', 'order.completed', 'order.exception'],
      ['refund', 'refund.created'],
      ['refund', 'refund.completed'],
    ]);
  });

  it('leaves nothing out that has no cause beside it', () => {
    const lone = [
      event(at(0), 'order.exception'),
      action(at(1), 'payment.note'),
      action(at(20), 'refund.cancel'),
      event(at(20), 'refund.failed'),
      action(at(60), 'payment.cancel'),
      event(at(90), 'payment.lost'),
    ];
    expect(shown(lone)).toEqual([
      ['order.exception'],
      ['payment.note'],
      ['refund.cancel', 'refund.failed'],
      ['payment.cancel'],
      ['payment.lost'],
    ]);
  });
});

describe('the size of a refund', () => {
  const money = {
    asset: 'BTC',
    network: 'bitcoin',
    decimals: 8,
    confirmed: '0.0025',
    refunded: '0',
    left: '0.0025',
    left_amount: '150',
    excess: '0.00083333',
    excess_amount: '49.99',
  };
  const price = { amount: '100', expected: '0.00166667' };
  const size = (unit: RefundUnit, typed = '') => refundSize(money, price, unit, typed, 2);

  it('is what was shown for everything and the excess, and has its worth beside it', () => {
    const coins = (text: string, worth: string) => ({ kind: 'ok', field: { crypto_amount: text }, coins: text, worth });
    expect(size('all')).toEqual(coins('0.0025', '150'));
    expect(size('excess')).toEqual(coins('0.00083333', '49.99'));
    expect(size('fiat', ' 50 ')).toEqual({ kind: 'ok', field: { amount: '50' }, coins: '0.00083333', worth: '50' });
    expect(size('coin', '0.001')).toEqual(coins('0.001', '59.99'));
  });

  it.each(['', '0', '0.00', '-1', '1e3', '1,5', '1.234', 'x', '9'.repeat(10_000) + '.999'])(
    'is refused before it is sent if %.20j is no amount',
    (typed) => expect(size('fiat', typed)).toEqual({ kind: 'wrong', decimals: 2 }),
  );

  it('is refused before it is sent if it is more than what is left', () => {
    expect(size('coin', '0.00250001')).toEqual({ kind: 'too_much' });
    expect(size('fiat', '150.01')).toEqual({ kind: 'too_much' });
    expect(size('fiat', '9'.repeat(10_000))).toEqual({ kind: 'too_much' });
  });

  it('at the current rate waits for that, is what the server computed, and no more than what is left', () => {
    const rate = { rate: '60000', at: '2026-11-23T12:00:00Z', until: '2026-11-23T12:01:00Z' };
    const sizeNow = (crypto_amount: string) => refundSize(money, price, 'now', '50', 2, { ...rate, crypto_amount });
    expect(size('now', '50')).toEqual({ kind: 'waiting' });
    expect(size('now', '50.001')).toEqual({ kind: 'wrong', decimals: 2 });
    const field = { crypto_amount: '0.0025', rate_until: rate.until };
    expect(sizeNow('0.0025')).toEqual({ kind: 'ok', field, coins: '0.0025', worth: '50' });
    expect(sizeNow('0.00250001')).toEqual({ kind: 'too_much' });
  });

  it('in the currency shows exactly the coins that the server takes for it', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10_000_000n }),
        fc.bigInt({ min: 1n, max: 10n ** 12n }),
        fc.constantFrom(6, 8, 18),
        fc.bigInt({ min: 1n, max: 10_000_000n }),
        (amountMinor, owed, decimals, minor) => {
          const owedUnits = owed * 10n ** BigInt(Math.max(0, decimals - 8));
          const confirmedUnits = 3n * owedUnits;
          const paid = paymentWith({
            amountMinor,
            quote: { ...ETH_QUOTE, decimals, owedUnits },
            received: { ...NO_MONEY, all: { ...NO_MONEY.all, confirmedUnits } },
          });
          const taken = sizeRefund(paid, NOTHING_REFUNDED, { amountMinor: minor });
          const left = { ...money, decimals, left: formatUnits(confirmedUnits, decimals) };
          const shown = { amount: formatUnits(amountMinor, 2), expected: formatUnits(owedUnits, decimals) };
          const found = refundSize(left, shown, 'fiat', formatUnits(minor, 2), 2);
          // Only the server knows that it also refuses amounts beyond the sum.
          fc.pre(taken.kind === 'ok');
          expect(found).toMatchObject({ coins: formatUnits(taken.units, decimals) });
        },
      ),
    );
  });

  it('is written as exactly as it was typed, with any number of decimals', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), fc.integer({ min: 0, max: 18 }), (units, decimals) => {
        const text = formatUnits(units, decimals);
        expect(parseUnits(text, decimals)).toBe(units);
        const all = { ...money, decimals, left: text };
        const most = Math.min(decimals, 8);
        const typed = formatUnits(units / 10n ** BigInt(decimals - most), most);
        const found = refundSize(all, { amount: '1', expected: null }, 'coin', typed, 2);
        expect(found).toEqual(
          typed === '0'
            ? { kind: 'wrong', decimals: most }
            : { kind: 'ok', field: { crypto_amount: typed }, coins: typed, worth: null },
        );
      }),
    );
  });
});

describe('the scale of a chart', () => {
  it('ends above every value, and never at 0', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e12, noNaN: true }), (max) => {
        expect(niceTop(max)).toBeGreaterThanOrEqual(max);
        expect(niceTop(max)).toBeGreaterThan(0);
      }),
    );
    expect(niceTop(2_050)).toBe(3_000);
    // Its thirds are round.
    expect([niceTop(9_821), niceTop(1_000)]).toEqual([12_000, 1_200]);
    expect(niceTop(0)).toBe(3);
  });
});

describe("the filters in the list's URL", () => {
  it('are read if they are known, and ignored otherwise', () => {
    expect(
      paymentsSearch({ status: 'open', period: '7d', search: 'NW-1', exception: 'underpaid', show: 'ord_1' }),
    ).toEqual({ status: 'open', period: '7d', search: 'NW-1', exception: 'underpaid', show: 'ord_1' });
    expect(paymentsSearch({ status: 'toString', period: '8d', search: '', exception: 'none', other: 1 })).toEqual({});
    expect(paymentsSearch({ search: 'x'.repeat(10_000_000) }).search).toHaveLength(255);
    // Malformed filters are listed, and parameters that are no filters are not.
    expect(unreadFilters({ status: 'nope', min: '1e9', from: '2026-02-31', created: 'foo', network: '' })).toEqual([
      'status',
      'min',
      'from',
    ]);
    expect(unreadFilters({ status: 'open', min: '49.99', from: '2026-02-28', columns: 'bogus' })).toEqual([]);
  });
});

describe("the days in Home's URL", () => {
  it('are read if there are such days, and ignored otherwise', () => {
    const days = (from: string, to = '2026-12-31') => homeSearch({ from, to });
    expect(days('2026-02-28')).toEqual({ from: '2026-02-28', to: '2026-12-31' });
    for (const none of ['2026-02-31', '2026-13-01', '2026-00-10', '2026-1-1', 'yesterday']) {
      expect(days(none)).toEqual({});
      expect(days('2026-01-01', none)).toEqual({});
    }
    expect(homeSearch({ period: '7d', from: '2026-02-31', to: '2026-03-01' })).toEqual({ period: '7d' });
  });
});

describe('the choices of reports in the address', () => {
  it('are read as they are chosen, and whatever is no choice is dropped', () => {
    const all = {
      period: 'last_quarter',
      zone: 'America/Argentina/Buenos_Aires',
      report: 'refunds',
      coin: 'USDT',
      network: 'bsc',
    };
    expect(reportsSearch(all)).toEqual(all);
    expect(reportsSearch({ from: '2026-01-01', to: '2026-01-31', period: 'this_year' })).toEqual({
      from: '2026-01-01',
      to: '2026-01-31',
    });
    for (const given of [
      { period: 'ever', report: 'taxes', zone: 'a b', coin: 'btc', network: 'bitcoin' },
      { coin: 'BTC' },
      { from: '2026-02-01', to: '2026-01-31' },
      { from: '0002-01-01', to: '2026-01-31' },
      { from: '2026-01-01' },
    ]) {
      expect(reportsSearch(given)).toEqual({});
    }
  });
});

describe('formats', () => {
  const formats = formatsOf('en', ['de-AT', 'en-GB'], 'Europe/Berlin');

  it('follow the person’s own variant of English, and their time zone', () => {
    expect(formats.exactTime('2026-11-22T13:01:07.000Z')).toBe('22 Nov 2026, 14:01:07');
    expect(formats.day('2026-11-22')).toBe('22 Nov');
  });

  it('write a day as the same day for whoever reads it, wherever they are', () => {
    for (const zone of ['Pacific/Kiritimati', 'Pacific/Auckland', 'UTC', 'Pacific/Pago_Pago']) {
      expect(formatsOf('en', ['en-GB'], zone).fullDay('2026-01-31')).toBe('31 Jan 2026');
    }
  });

  it('keep every digit of an amount', () => {
    const { fiat, price } = formatsOf('en', [], 'UTC');
    expect(fiat('9007199254740993.05', 'USD')).toBe('$9,007,199,254,740,993.05');
    expect([price('54545.32214', 'USD'), price('0.999875', 'EUR')]).toEqual(['$54,545.32', '€0.999875']);
  });

  it('write coins as the language does, and say where decimals were left out', () => {
    const { coin } = formatsOf('de', [], 'UTC');
    expect(coin('1.24437500', 'LTC')).toBe('1,244375 LTC');
    expect(coin('9007199254740993.00000001', 'BTC')).toBe('9.007.199.254.740.993,00000001 BTC');
    expect(coin('0.001093692007655844', 'ETH')).toBe('0,00109369… ETH');
    expect(coin('-0.5', '')).toBe('-0,5');
  });

  it('let no two currencies look alike', () => {
    for (const code of MAIL_LANGUAGES) {
      const written = FIATS.map((currency) => formatsOf(code, [`${code}-CA`], 'UTC').fiat('5', currency));
      expect(new Set(written).size).toBe(FIATS.length);
    }
  });

  it('never make anything appear older than it is', () => {
    const now = Date.parse('2026-11-22T13:00:00.000Z');
    expect(formats.relative('2026-11-22T12:58:01.000Z', now)).toBe('1 min ago');
    expect(formats.relative('2026-11-22T11:00:01.000Z', now)).toBe('1 hr ago');
    expect(formats.relative('2026-11-20T11:00:01.000Z', now)).toBe('20 Nov 2026');
  });
});
