import { useLocale } from '../../locale.tsx';
import { formatUnits, unitsOf, decimalsOf } from '../../decimal.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { networkName } from '../payments/network-name.ts';
import css from './refunds.module.css';
import type { ChosenRefunds } from './use-chosen.ts';

/** What is chosen to be signed together, and its sum. */
export function ChosenBar({ chosen, onSign }: { readonly chosen: ChosenRefunds; readonly onSign: () => void }) {
  const { t } = useLocale('refunds');
  const { refunds } = chosen;
  const [first] = refunds;
  if (first === undefined) return null;
  const amounts = refunds.map(({ crypto_amount: amount }) => amount);
  const decimals = Math.max(...amounts.map(decimalsOf));
  const sum = formatUnits(
    amounts.reduce((units, amount) => units + unitsOf(amount, decimals), 0n),
    decimals,
  );
  return (
    <div className={css.chosen} role="status">
      <span>
        {t('refunds_chosen', {
          count: refunds.length,
          amount: sum,
          asset: first.asset,
          network: networkName(first.network),
        })}
      </span>
      <Button small kind="primary" onClick={onSign}>
        {t('refund_sign_together')}
      </Button>
      <LinkButton onClick={chosen.clear}>{t('refunds_choose_none')}</LinkButton>
    </div>
  );
}
