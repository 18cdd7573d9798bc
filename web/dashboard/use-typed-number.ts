import { useLocale } from './locale.tsx';
import { decimalSign, plainNumber } from './typed-number.ts';

/** Reads a number as the person types it, as a plain decimal; null if it is none. */
export function useTypedNumber(): (typed: string) => string | null {
  const sign = decimalSign(useLocale().intl);
  return (typed) => plainNumber(typed, sign);
}
