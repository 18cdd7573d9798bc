import { fiatDecimals, isFiat } from '../../src/domain/money.ts';
import { useLocale } from './locale.tsx';
import { decimalSign, plainCoins, plainNumber } from './typed-number.ts';

interface TypedNumbers {
  /** Read numbers and amounts of coins as the person types them, as plain decimals; null for what is none. */
  readonly plain: (typed: string) => string | null;
  readonly coins: (typed: string) => string | null;
  /** A number as the person would type it, without decimals for amounts of a currency that has none. */
  readonly example: (currency?: string) => string;
}

export function useTypedNumber(): TypedNumbers {
  const { intl, number } = useLocale();
  const sign = decimalSign(intl);
  return {
    plain: (typed) => plainNumber(typed, sign),
    coins: (typed) => plainCoins(typed, sign),
    example: (currency = '') => number(isFiat(currency) && fiatDecimals(currency) === 0 ? 12 : 12.5),
  };
}
