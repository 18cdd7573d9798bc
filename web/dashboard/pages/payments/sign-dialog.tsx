import { useQuery } from '@tanstack/react-query';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemText } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import css from './payment-parts.module.css';

const SHOW = 'POST /dashboard/api/projects/:project/:mode/payments/:payment/refunds/:refund/instructions';

interface SignDialogProps {
  readonly payment: string;
  readonly refund: string;
  readonly onClose: () => void;
}

/** What to sign for a refund in one's own wallet, as the command prints it. */
export function SignDialog({ payment, refund, onClose }: SignDialogProps) {
  const { t } = useLocale('detail');
  const { api } = useDashboard();
  const scope = useScope();
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['sign', scope.project, refund],
    queryFn: ({ signal }) => api(SHOW, { params: { ...scope, payment, refund } }, signal),
    // A node answers it, and what it says must be of now.
    staleTime: 0,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  });
  return (
    <Dialog title={t('sign_refund')} description={t('sign_text', { id: refund })} wide onClose={onClose}>
      {data === undefined ? (
        error === null ? (
          <SkeletonRows count={4} />
        ) : (
          <>
            <Notice kind="problem">{problemText(error, t)}</Notice>
            <div className={css.end}>
              <Button busy={isFetching} onClick={() => void refetch()}>
                {t('try_again')}
              </Button>
            </div>
          </>
        )
      ) : (
        <>
          {data.problem === null ? null : <Notice kind="problem">{data.problem}</Notice>}
          {data.warnings.map((warning) => (
            <Notice key={warning} kind="warning">
              {warning}
            </Notice>
          ))}
          <pre className={css.printed} role="region" aria-label={t('sign_refund')} tabIndex={0}>
            {data.lines.join('\n')}
          </pre>
          <div className={css.end}>
            {data.payment_uri === null ? null : <CopyButton text={data.payment_uri}>{t('copy_uri')}</CopyButton>}
            {data.call === null ? null : <CopyButton text={data.call.data}>{t('copy_call')}</CopyButton>}
            {data.psbt === null ? null : <CopyButton text={data.psbt}>{t('copy_psbt')}</CopyButton>}
            <CopyButton text={data.lines.join('\n')}>{t('copy_all')}</CopyButton>
            <Button onClick={onClose}>{t('close')}</Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
