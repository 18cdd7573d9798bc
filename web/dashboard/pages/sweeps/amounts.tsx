import { useLocale } from '../../locale.tsx';

interface Amount {
  readonly asset: string;
  readonly amount: string;
  readonly usd: string | null;
}

/** `0.03 ETH + 12.5 USDT ($102.50)`; without the worth if that of a part is unknown. */
export function Amounts({ amounts }: { readonly amounts: readonly Amount[] }) {
  const { t } = useLocale('sweeps');
  const worth = useWorth(amounts);
  if (amounts.length === 0) return null;
  return (
    <>
      {amounts.map(({ asset, amount }) => `${amount} ${asset}`).join(' + ')}{' '}
      {worth === null ? `(${t('sweep_no_price')})` : `(${worth})`}
    </>
  );
}

/** Cents are added exactly; null if one part has no price. */
function useWorth(amounts: readonly Amount[]): string | null {
  const { fiat } = useLocale();
  let cents = 0n;
  for (const { usd } of amounts) {
    if (usd === null) return null;
    cents += BigInt(usd.replace('.', ''));
  }
  const digits = String(cents).padStart(3, '0');
  return fiat(`${digits.slice(0, -2)}.${digits.slice(-2)}`, 'USD');
}
