import { describe, expect, it } from 'vitest';
import { linesOf, summaryLines } from './report-lines.ts';

describe('a statement as text', () => {
  const named = <Row>(rows: readonly Row[], count: number) => ({ rows: [...rows], count });
  const token = { coin: 'ETH', network: 'ethereum' } as const;
  const statement = (count: number) => ({
    from_day: '2026-01-01',
    to_day: '2026-01-31',
    zone: 'UTC',
    from: '2026-01-01T00:00:00.000Z',
    until: '2026-02-01T00:00:00.000Z',
    made_at: '2026-02-01T00:00:00.000Z',
    verdict: 'explained' as const,
    currency: 'USD' as const,
    tokens: [],
    receipts: [],
    refunds: [],
    fees: [],
    differences: named([{ payment: 'pay_1', ...token, transfers: '1', payment_sum: '2' }], count),
    over_refunds: named([{ payment: 'pay_2', ...token, received: '1', refunded: '2' }], count),
    repeated_refunds: named([{ payment: 'pay_2', ...token, refund: 're_1', amount: '1', times: 2 }], count),
    deposit_differences: named(
      [{ address: '0x1', ...token, received: '1', swept: '0', there: '2', from_contracts: null, is_unclear: false }],
      count,
    ),
  });

  it('says of each kind of difference when there are more than it names', () => {
    const more = linesOf(statement(201)).filter((line) => line.startsWith('The list above shows the first 1 of 201 '));
    expect(more.map((line) => line.replace(/^.* 201 /, ''))).toEqual([
      'payments that differ from their transfers.',
      'payments whose refunds exceed their confirmed money.',
      'refunds that were paid more than once.',
      'deposits that differ.',
    ]);
    expect(linesOf(statement(1)).join('\n')).not.toContain('The list above');
  });
});

describe('the sums of a file of bookings', () => {
  const sum = { asset: 'BTC', network: 'bitcoin', rows: 1_200, amount: '0.5', value: 123_456n, unvalued: 1 } as const;
  const left = {
    kind: 'receipt',
    day: '2026-01-31',
    id: 'ord_1',
    amount: '0.1',
    coin: 'BTC',
    why: 'no_value',
  } as const;
  const summary = { sums: [{ ...sum, kind: 'receipt' as const }], leftOut: { rows: [left], count: 2 } };

  it('name each entry that is not in it, and say when there are more', () => {
    expect(summaryLines(summary, 'EUR', 'datev')).toEqual([
      'receipt: 0.5 BTC on bitcoin, 1234.56 EUR, 1200 entries',
      'Not in the file: receipt of 0.1 BTC on 2026-01-31, ord_1, because no price was recorded.',
      'The list above shows the first 1 of 2 entries that are not in the file.',
    ]);
  });

  it('say when Xero would refuse so many lines', () => {
    expect(summaryLines(summary, 'EUR', 'xero').at(-1)).toBe(
      'The file has 1198 lines, but Xero imports at most 1000. Write files of fewer days.',
    );
    const short = { ...summary, sums: [{ ...sum, kind: 'receipt' as const, rows: 1_002 }] };
    expect(summaryLines(short, 'EUR', 'xero').at(-1)).not.toContain('Xero');
  });
});
