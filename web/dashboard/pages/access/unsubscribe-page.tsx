import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { UnsubscribeAnswer } from '../../../../src/http/dashboard/contract/notifications.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemText } from '../../problem.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { AccessFrame } from './access-frame.tsx';

/** The page of a mail's link. Only its button switches mails off: mail programs open links by themselves. */
export function UnsubscribePage() {
  const { t } = useLocale('notifications', 'access');
  const { api } = useDashboard();
  const { token = '' } = useParams({ strict: false });
  const state = useQuery({
    queryKey: ['unsubscribe', token],
    queryFn: ({ signal }) => api('POST /dashboard/api/unsubscribe/state', { body: { token } }, signal),
    staleTime: Infinity,
  });
  const off = useMutation({ mutationFn: () => api('POST /dashboard/api/unsubscribe', { body: { token } }) });
  const shown = off.data ?? state.data;
  if (shown === undefined) {
    return (
      <AccessFrame title={t(state.isError ? 'fault_title' : 'loading')}>
        {state.isError ? <Notice kind="problem">{problemText(state.error, t)}</Notice> : <Skeleton width={3} />}
      </AccessFrame>
    );
  }
  const { notification } = shown;
  if (notification === null || shown.state === 'unknown') {
    return <Closed title={t('unsubscribe_unknown_title')} text={t('unsubscribe_unknown_text')} />;
  }
  const what = t(`unsubscribe_${notification satisfies NonNullable<UnsubscribeAnswer['notification']>}`);
  if (shown.state === 'used') {
    return <Closed title={t('unsubscribe_done_title')} text={t('unsubscribe_done_text', { what })} />;
  }
  return (
    <AccessFrame title={t('unsubscribe_title')} lead={t('unsubscribe_text', { what })}>
      {off.isError ? <Notice kind="problem">{problemText(off.error, t)}</Notice> : null}
      <Button kind="primary" wide busy={off.isPending} onClick={() => off.mutate()}>
        {t('unsubscribe_confirm')}
      </Button>
    </AccessFrame>
  );
}

function Closed({ title, text }: { readonly title: string; readonly text: string }) {
  const { t } = useLocale('access');
  return (
    <AccessFrame title={title} lead={text}>
      <Link className={buttonClass()} to="/account">
        {t('account_settings')}
      </Link>
    </AccessFrame>
  );
}
