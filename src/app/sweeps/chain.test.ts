import { expect, it } from 'vitest';
import type { Rail } from '../../modes/rail.ts';
import { fixedRates } from '../../rates/fixed.ts';
import { worthAt } from './chain.ts';

it('what a sweep took is worth its price of then, to the nearest cent, and nothing is made up for what is long past', () => {
  const rates = fixedRates(new Map([['USDT', 99_500_000n]]));
  const app = { clock: () => 1_000_000, railFor: () => ({ rates }) as unknown as Rail };
  const chain = { network: 'ethereum', tokens: new Map() } as const;
  const worth = (units: bigint, at: number | null) => worthAt(app, chain, { asset: 'USDT', units, at });
  expect([1_000_000n, 994_975n, 5_026n, 5_025n].map((units) => worth(units, 1_000_000))).toEqual([100n, 99n, 1n, 0n]);
  expect([worth(1_000_000n, 1_000_000 - 15 * 60_000), worth(1_000_000n, 1_000_000 - 15 * 60_000 - 1)]).toEqual([
    100n,
    null,
  ]);
  expect(worth(1_000_000n, null)).toBeNull();
});
