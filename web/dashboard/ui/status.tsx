import type { Exception } from '../../../src/domain/payment.ts';
import type { PaymentStatus } from '../../../src/domain/status.ts';
import { useLocale } from '../locale.tsx';
import { classNames } from './class-names.ts';
import css from './status.module.css';

const CLASSES = {
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

/** A payment's status and exception, as text that the colour supports. */
export function Status({ status, exception }: StatusProps) {
  const { t } = useLocale();
  return (
    <span className={css.group}>
      <span className={classNames(css.status, css[CLASSES[status]])}>{t(`status_${status}`)}</span>
      {exception === 'none' ? null : <span className={css.unusual}>{t(`exception_${exception}`)}</span>}
    </span>
  );
}
