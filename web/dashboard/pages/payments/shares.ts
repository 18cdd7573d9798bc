/** How much of what was asked for has come, for a bar of 100; and the difference as a decimal text. */
export interface MoneyShares {
  readonly paid: number;
  readonly excess: number;
  /** What is missing; null where nothing is. */
  readonly missing: string | null;
  /** What came beyond it; null where nothing did. */
  readonly over: string | null;
}

/** Compares two decimal texts exactly: no digit of money passes a float. */
export function moneyShares(owed: string, received: string): MoneyShares {
  const decimals = Math.max(decimalsOf(owed), decimalsOf(received));
  const [asked, came] = [unitsOf(owed, decimals), unitsOf(received, decimals)];
  if (came <= asked) {
    const paid = asked === 0n ? 100 : Number((came * 10_000n) / asked) / 100;
    return { paid, excess: 0, missing: came === asked ? null : decimalOf(asked - came, decimals), over: null };
  }
  const paid = Number((asked * 10_000n) / came) / 100;
  return { paid, excess: 100 - paid, missing: null, over: decimalOf(came - asked, decimals) };
}

function decimalsOf(text: string): number {
  return text.split('.')[1]?.length ?? 0;
}

function unitsOf(text: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

function decimalOf(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
