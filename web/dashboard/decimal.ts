/** Decimal texts as whole numbers of their smallest unit, so that no amount of money becomes a float. */

const PLAIN = /^\d+(?:\.\d*)?$/;

/** The number of decimals of a text. */
export function decimalsOf(text: string): number {
  return text.split('.')[1]?.length ?? 0;
}

/** A decimal text of the server in units of 10^-`decimals`. */
export function unitsOf(text: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** A typed text in units of 10^-`decimals`; null if it is no plain decimal or has too many decimals. */
export function parseUnits(text: string, decimals: number): bigint | null {
  const typed = text.trim();
  return PLAIN.test(typed) && decimalsOf(typed) <= decimals ? unitsOf(typed, decimals) : null;
}

/** The shortest decimal text: `1n` with 8 decimals is `0.00000001`. */
export function formatUnits(units: bigint, decimals: number): string {
  if (units < 0n) return `-${formatUnits(-units, decimals)}`;
  const digits = units.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
