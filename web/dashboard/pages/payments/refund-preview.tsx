import type { PaymentView } from '../../../../src/http/dashboard/payments/contract.ts';
import type { RefundableView } from '../../../../src/http/dashboard/refunds/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Fact, Facts } from '../log/log-panel.tsx';
import { networkName } from './network-name.ts';
import css from './payment-parts.module.css';
import { leftAfter, type RateNow, type RefundSize } from './refund-size.ts';

interface RefundPreviewProps {
  readonly payment: PaymentView;
  readonly money: RefundableView;
  readonly size: RefundSize;
  /** Of the current rate; null if that is not used. */
  readonly now: RateNow | null;
  /** Null: the customer enters one. */
  readonly address: string | null;
}

/** Exactly what will be sent, to whom, and what it is worth at which rate. */
export function RefundPreview({ payment, money, size, now, address }: RefundPreviewProps) {
  const { t, fiat, price, exactTime } = useLocale('detail');
  if (size.kind !== 'ok') return null;
  const { currency } = payment;
  const { asset, network } = money;
  const { coins, worth } = size;
  return (
    <section className={css.preview} aria-label={t('refund_preview')}>
      <h3>{t('refund_preview')}</h3>
      <Facts>
        <Fact name={t('amount')}>
          <b>
            {coins} {asset}
          </b>{' '}
          · {networkName(network)}
        </Fact>
        {worth === null ? null : (
          <Fact name={t('refund_value')}>
            {fiat(worth, currency)} {now === null ? t('refund_rate_then') : null}
          </Fact>
        )}
        {now === null ? null : (
          <Fact name={t('refund_rate')}>
            {t('refund_rate_now', { asset, rate: price(now.rate, currency), time: exactTime(now.at) })}
          </Fact>
        )}
        <Fact name={t('refund_to_short')}>
          {address === null ? (
            t('refund_to_customer')
          ) : address === '' ? (
            <span className={css.soft}>{t('refund_to_missing')}</span>
          ) : (
            <code>{address}</code>
          )}
        </Fact>
        <Fact name={t('refund_left_after')}>
          {leftAfter(money, coins)} {asset}
        </Fact>
      </Facts>
    </section>
  );
}
