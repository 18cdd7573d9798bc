import type { PaymentView } from '../../../../src/http/dashboard/payments/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Status } from '../../ui/value.tsx';
import css from './payment-parts.module.css';

/** The amount and status. */
export function PaymentHeading({ payment }: { readonly payment: PaymentView }) {
  const { fiat } = useLocale();
  return (
    <div className={css.heading}>
      <strong>{fiat(payment.amount, payment.currency)}</strong>
      <Status status={payment.status} exception={payment.exception} />
    </div>
  );
}
