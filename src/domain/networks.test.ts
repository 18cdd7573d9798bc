import { describe, expect, it } from 'vitest';
import { NETWORK_FACTS, NETWORKS, requiredConfirmations } from './networks.ts';

describe('required confirmations', () => {
  it('follow the amount: below 1,000 USD, below 100,000 USD, and above', () => {
    const at = (usd: bigint): number => requiredConfirmations('bitcoin', usd * 100n);
    expect([at(0n), at(999n), at(1_000n), at(99_999n), at(100_000n), at(10_000_000n)]).toEqual([2, 2, 6, 6, 12, 12]);
  });

  it.each(NETWORKS)('on %s never fall with the amount, and the last tier has no bound', (network) => {
    const { confirmations } = NETWORK_FACTS[network];
    const depths = confirmations.map((tier) => tier.confirmations);
    expect(depths).toEqual(depths.toSorted((a, b) => a - b));
    expect(depths[0]).toBeGreaterThan(0);
    expect(confirmations.at(-1)?.belowUsdCents).toBeNull();
  });
});
