import { useState } from 'react';
import type { PaymentView } from '../../../../../src/http/dashboard/payments/contract.ts';
import { useLocale } from '../../../locale.tsx';
import { ConfirmDialog } from '../../../ui/action-dialog.tsx';
import { Choices } from '../../../ui/choices.tsx';
import { usePaymentChange } from '../refund/changed.tsx';

type Span = 'next' | 'hour' | 'day' | 'final';

/** The dialog that makes what is due of a test payment happen now. */
export function AdvanceDialog({ payment, onClose }: { readonly payment: PaymentView; readonly onClose: () => void }) {
  const { t, dateTime } = useLocale('detail');
  const [to, choose] = useState<Span>('next');
  const change = usePaymentChange(payment.id, {
    send: (api, params) =>
      api('POST /dashboard/api/projects/:project/:mode/payments/:payment/advance', { params, body: { to } }),
    done: ({ now, moments }) => t('done_advance', { time: dateTime(now), count: moments }),
    onDone: onClose,
  });
  return (
    <ConfirmDialog name={t('advance')} text={t('advance_text')} action={change} onClose={onClose}>
      <Choices
        label={t('advance_by')}
        isLabelHidden
        value={to}
        options={[
          { value: 'next', text: t('advance_next'), detail: t('advance_next_text') },
          { value: 'hour', text: t('advance_hour') },
          { value: 'day', text: t('advance_day') },
          { value: 'final', text: t('advance_final'), detail: t('advance_final_text') },
        ]}
        onValue={choose}
      />
    </ConfirmDialog>
  );
}
