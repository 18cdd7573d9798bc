import { useLocale } from './locale.tsx';
import { decimalSign, plainCoins, plainNumber } from './typed-number.ts';

/** Reads numbers and amounts of coins as the person types them, as plain decimals; null for what is none. */
export function useTypedNumber(): { readonly [kind in 'plain' | 'coins']: (typed: string) => string | null } {
  const sign = decimalSign(useLocale().intl);
  return { plain: (typed) => plainNumber(typed, sign), coins: (typed) => plainCoins(typed, sign) };
}
