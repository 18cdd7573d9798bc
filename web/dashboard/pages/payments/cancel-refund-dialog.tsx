import { useMutation } from '@tanstack/react-query';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { ConfirmDialog } from '../../ui/action-dialog.tsx';
import { putPayment, refreshOnRefusal, refundsKey } from './queries.ts';

const CANCEL = 'POST /dashboard/api/projects/:project/:mode/payments/:payment/refunds/:refund/cancel';

interface CancelRefundDialogProps {
  /** Ids as the APIs write them. */
  readonly payment: string;
  readonly refund: string;
  readonly onClose: () => void;
}

/** Withdraws a refund that nothing pays yet. */
export function CancelRefundDialog({ payment, refund, onClose }: CancelRefundDialogProps) {
  const { t } = useLocale('detail');
  const dashboard = useDashboard();
  const scope = useScope();
  const cancel = useMutation({
    mutationFn: () => dashboard.api(CANCEL, { params: { ...scope, payment, refund } }),
    onSuccess: ({ payment: fresh }) => {
      putPayment(dashboard, scope, fresh);
      dashboard.toast(t('refund_cancelled'));
      onClose();
    },
    onError: (error) => refreshOnRefusal(dashboard, scope, payment, error),
    onSettled: () => dashboard.queries.invalidateQueries({ queryKey: refundsKey(scope) }),
  });
  return (
    <ConfirmDialog
      isDangerous
      name={t('cancel_refund')}
      text={t('cancel_refund_text')}
      onClose={onClose}
      action={cancel}
    />
  );
}
