import type { PaymentView } from '../../../../../src/http/dashboard/payments/contract.ts';
import type { RefundableView } from '../../../../../src/http/dashboard/refunds/contract.ts';
import { useLocale } from '../../../locale.tsx';
import { Coin, Facts } from '../../../ui/value.tsx';
import { networkName } from '../../../formats.ts';
import css from '../payment/payment-parts.module.css';
import { leftAfter, type RateNow, type RefundSize, fiatDecimalsOf } from './refund-size.ts';
import { useQuery } from '@tanstack/react-query';
import { parseUnits } from '../../../decimal.ts';
import { reads } from '../../../api.ts';
import { useScope } from '../../../scope.ts';

interface RefundPreviewProps {
  readonly payment: PaymentView;
  readonly money: RefundableView;
  readonly size: RefundSize;
  /** The amount at the current rate; null if that rate is not used. */
  readonly now: RateNow | null;
  /** Null: the customer enters one. */
  readonly address: string | null;
}

/** The exact refund: its amount, address, and worth at which rate. */
export function RefundPreview({ payment, money, size, now, address }: RefundPreviewProps) {
  const { t, fiat, price, exactTime } = useLocale('detail');
  if (size.kind !== 'ok') return null;
  const { currency } = payment;
  const { asset, network } = money;
  const { coins, worth } = size;
  return (
    <section className={css.preview} aria-label={t('refund_preview')}>
      <h3>{t('refund_preview')}</h3>
      <Facts
        facts={[
          [
            t('amount'),
            <>
              <b>
                <Coin amount={coins} asset={asset} />
              </b>{' '}
              · {networkName(network)}
            </>,
          ],
          [
            t('refund_value'),
            worth === null ? null : `${fiat(worth, currency)} ${now === null ? t('refund_rate_then') : ''}`,
          ],
          [
            t('refund_rate'),
            now === null
              ? null
              : t('refund_rate_now', { asset, rate: price(now.rate, currency), time: exactTime(now.at) }),
          ],
          [
            t('refund_to_short'),
            address === null ? (
              t('refund_to_customer')
            ) : address === '' ? (
              <span className={css.soft}>{t('refund_to_missing')}</span>
            ) : (
              <code>{address}</code>
            ),
          ],
          [t('refund_left_after'), <Coin key="left" amount={leftAfter(money, coins)} asset={asset} />],
        ]}
      />
    </section>
  );
}

const RATE = 'GET /dashboard/api/projects/:project/:mode/payments/:payment/refunds/rate';
/** The prefix of the keys of all rates. */
export const RATE_KEY = 'refund-rate';
/** Well below the time for which the server accepts a rate. */
const EVERY_MS = 15_000;

interface FoundRate {
  readonly now: RateNow | null;
  readonly error: unknown;
}

/** The worth of a typed amount at the current rate, kept current; nothing while `isAsked` is false. */
export function useRateNow(payment: PaymentView, money: RefundableView, typed: string, isAsked: boolean): FoundRate {
  const scope = useScope();
  const amount = typed.trim();
  const { asset, network } = money;
  const minor = parseUnits(amount, fiatDecimalsOf(payment.currency));
  const { data, error } = useQuery({
    ...reads([RATE_KEY], RATE, { params: { ...scope, payment: payment.id }, query: { asset, network, amount } }),
    enabled: isAsked && minor !== null && minor > 0n,
    staleTime: 0,
    gcTime: 0,
    retry: false,
    refetchInterval: EVERY_MS,
  });
  // An amount is hidden when its rate is no longer available.
  return { now: error === null ? (data ?? null) : null, error };
}
