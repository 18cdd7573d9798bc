import type { PaymentView } from '../../../../../src/http/dashboard/payments/contract.ts';
import { useLocale } from '../../../locale.tsx';
import { Notice } from '../../../ui/notice.tsx';

/** Names refunds that were paid although they had failed, or more than once. */
export function RefundWarnings({ payment }: { readonly payment: PaymentView }) {
  const { t } = useLocale('detail');
  return payment.refund_warnings.map(({ kind, refund, transaction_hashes: hashes }) => (
    <Notice key={`${kind} ${refund}`} kind="warning">
      {t(`refund_paid_${kind}`, { refund, hashes: hashes.join(', '), times: hashes.length })}
    </Notice>
  ));
}
