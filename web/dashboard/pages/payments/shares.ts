/** The parts of a bar of 100: what is confirmed, what was only seen, and what came beyond what was asked for. */
export interface MoneyShares {
  readonly confirmed: number;
  readonly seen: number;
  readonly excess: number;
}

interface Sums {
  readonly expected: string;
  /** All that was seen, confirmed or not. */
  readonly received: string;
  readonly confirmed: string;
}

/** Compares decimal texts exactly: no digit of money passes a float before it is a share. */
export function moneyShares({ expected, received, confirmed }: Sums): MoneyShares {
  const decimals = Math.max(...[expected, received, confirmed].map(decimalsOf));
  const [asked, came, sure] = [expected, received, confirmed].map((text) => unitsOf(text, decimals)) as [
    bigint,
    bigint,
    bigint,
  ];
  const whole = came > asked ? came : asked;
  const share = (units: bigint): number => (whole === 0n ? 0 : Number((units * 10_000n) / whole) / 100);
  const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
  // What is confirmed was received; were it told otherwise, the bar would still end.
  const confirmedUnits = least(least(sure, came), asked);
  return {
    confirmed: share(confirmedUnits),
    seen: share(least(came, asked) - confirmedUnits),
    excess: came > asked ? share(came - asked) : 0,
  };
}

function decimalsOf(text: string): number {
  return text.split('.')[1]?.length ?? 0;
}

function unitsOf(text: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}
