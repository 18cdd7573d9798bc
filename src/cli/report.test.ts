import { describe, expect, it } from 'vitest';
import { linesOf } from './report.ts';

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
