import { decimalsOf, unitsOf } from '../../../decimal.ts';

/** The parts of the money bar, in percent of its length. */
export interface MoneyShares {
  readonly confirmed: number;
  readonly seen: number;
  readonly excess: number;
  /** The share of the confirmed money, from the left. */
  readonly refunded: number;
}

interface Sums {
  readonly expected: string;
  /** All seen money, confirmed or not. */
  readonly received: string;
  readonly confirmed: string;
  /** The sum of completed and pending refunds. */
  readonly refunded: string;
}

/** Computes with exact amounts; only the shares are floats. */
export function moneyShares({ expected, received, confirmed, refunded }: Sums): MoneyShares {
  const decimals = Math.max(...[expected, received, confirmed, refunded].map(decimalsOf));
  const [asked, came, sure, back] = [
    unitsOf(expected, decimals),
    unitsOf(received, decimals),
    unitsOf(confirmed, decimals),
    unitsOf(refunded, decimals),
  ];
  const whole = came > asked ? came : asked;
  const share = (units: bigint): number => (whole === 0n ? 0 : Number((units * 10_000n) / whole) / 100);
  const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
  // Confirmed money should be part of the received money; this limits the bar to its length in any case.
  const confirmedUnits = least(least(sure, came), asked);
  return {
    confirmed: share(confirmedUnits),
    seen: share(least(came, asked) - confirmedUnits),
    excess: came > asked ? share(came - asked) : 0,
    refunded: share(least(back, came)),
  };
}
