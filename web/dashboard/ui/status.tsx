import type { Exception } from '../../../src/domain/payment.ts';
import type { PaymentStatus } from '../../../src/domain/status.ts';
import { useLocale } from '../locale.tsx';
import { classNames } from './class-names.ts';
import css from './status.module.css';

const LOOKS = {
  created: 'open',
  prepared: 'open',
  pending: 'open',
  processing: 'waiting',
  confirming: 'waiting',
  completed: 'good',
  failed: 'bad',
  expired: 'over',
  cancelled: 'over',
} as const satisfies Readonly<Record<PaymentStatus, string>>;

interface StatusProps {
  readonly status: PaymentStatus;
  readonly exception: Exception;
}

/** How a payment stands, and what is unusual about it: in words; the colour only helps. */
export function Status({ status, exception }: StatusProps) {
  const { t } = useLocale();
  return (
    <span className={css.group}>
      <span className={classNames(css.status, css[LOOKS[status]])}>{t(`status_${status}`)}</span>
      {exception === 'none' ? null : <span className={css.unusual}>{t(`exception_${exception}`)}</span>}
    </span>
  );
}
