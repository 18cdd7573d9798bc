import { FIATS, fiatDecimals, isFiat, maxAmountMinor, MIN_AMOUNT_MINOR, type Fiat } from './money.ts';

export interface TypedAmount {
  readonly currency: Fiat;
  readonly minor: bigint;
}

const AMOUNT = /^([^\d\s.,'’]{1,3})?(\d[\d.,'’]*)([^\d\s.,'’]{1,3})?$/;
const UNGROUPED = /^(\d+)[.,](\d{1,2})$/;
/** Digits in groups of three, then decimals behind another sign. */
const GROUPED = /^(\d{1,3}([.,'’])\d{3}(?:\2\d{3})*)(?!\2)[.,](\d{1,2})$/;
const WHOLE = /^(?:\d+|\d{1,3}(?:([.,'’])\d{3})(?:\1\d{3})*)$/;

/** Signs that several currencies share restrict nothing. */
const SIGNS: Readonly<Record<string, Fiat | null>> = { '€': 'EUR', '£': 'GBP', $: null, '¥': null };

/**
 * The amounts that a text can mean in all currencies, as people of several countries write them: `49,90`, `1.234,50`,
 * `1,234.50`, `€49.90`. Empty if the text is no amount. `1.234` is 1,234, because no currency has three decimals.
 */
export function typedAmounts(text: string, only: Fiat | null = null): readonly TypedAmount[] {
  const [, before, digits = '', after] = AMOUNT.exec(text) ?? [];
  const hundredths = hundredthsOf(digits);
  if (hundredths === null) return [];
  const named = [before, after].flatMap((sign) => (sign === undefined ? [] : [currencyOf(sign)]));
  if (named.includes(undefined)) return [];
  return FIATS.flatMap((currency) => {
    if ([only, ...named].some((one) => one !== null && one !== currency)) return [];
    const isWhole = fiatDecimals(currency) === 0;
    if (isWhole && hundredths % 100n !== 0n) return [];
    const minor = isWhole ? hundredths / 100n : hundredths;
    return minor < MIN_AMOUNT_MINOR || minor > maxAmountMinor(currency) ? [] : [{ currency, minor }];
  });
}

/**
 * The amount that a text means in one currency, in minor units; null if it means none. Reads what people add in the
 * field of a form: spaces, marks of the writing direction, the digits of Arabic and Persian, and wide ones.
 */
export function typedAmount(text: string, currency: Fiat): bigint | null {
  return typedAmounts(withoutSpaces(inLatinDigits(text)), currency)[0]?.minor ?? null;
}

function inLatinDigits(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replaceAll('\u066b', '.')
    .replaceAll('\u066c', ',');
}

/** Spaces separate thousands, or a number and its currency. Elsewhere they may hide a missing point. */
function withoutSpaces(text: string): string {
  return text.trim().replaceAll(/(?<=\d)\s(?=\d{3}(?!\d))|(?<!\d)\s|\s(?!\d)/g, '');
}

/** The currency that a sign or code names; null if several have the sign, undefined if it names none. */
export function currencyOf(sign: string): Fiat | null | undefined {
  const code = sign.toUpperCase();
  if (isFiat(code)) return code;
  return SIGNS[sign];
}

function hundredthsOf(digits: string): bigint | null {
  const bare = (text: string): bigint => BigInt(text.replaceAll(/\D/g, ''));
  if (WHOLE.test(digits)) return bare(digits) * 100n;
  const parts = UNGROUPED.exec(digits) ?? GROUPED.exec(digits);
  const [whole, decimals] = [parts?.[1], parts?.at(-1)];
  return whole === undefined || decimals === undefined ? null : bare(whole) * 100n + BigInt(decimals.padEnd(2, '0'));
}
