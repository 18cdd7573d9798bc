import { formatUnits, unitsOf } from '../../decimal.ts';
import { useLocale } from '../../locale.tsx';

interface Amount {
  readonly asset: string;
  readonly amount: string;
  readonly usd: string | null;
}

interface AmountsProps {
  readonly amounts: readonly Amount[];
  /** What is said where the worth of a part is not known; nothing by default. */
  readonly unknown?: string;
}

/** `0.03 ETH + 12.5 USDT ($102.50)`. */
export function Amounts({ amounts, unknown = '' }: AmountsProps) {
  const worth = useWorth(amounts) ?? unknown;
  if (amounts.length === 0) return null;
  return (
    <>
      {amounts.map(({ asset, amount }) => `${amount} ${asset}`).join(' + ')}
      {worth === '' ? null : ` (${worth})`}
    </>
  );
}

/** Cents are added exactly; null if one part has no price. */
function useWorth(amounts: readonly Amount[]): string | null {
  const { fiat } = useLocale();
  let cents = 0n;
  for (const { usd } of amounts) {
    if (usd === null) return null;
    cents += unitsOf(usd, 2);
  }
  return fiat(formatUnits(cents, 2), 'USD');
}
