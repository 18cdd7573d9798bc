import { useMutation, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { UnsubscribeAnswer } from '../../../../src/http/dashboard/notifications/contract.ts';
import { reads } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { Skeleton } from '../../ui/placeholder.tsx';
import { AccessFrame, AccountFrame, MailedLinkFrame, NotLoadedFrame } from './access-frame.tsx';

/** The page of the link that switches a kind of mail off. */
export function UnsubscribePage() {
  const { t } = useLocale('notifications', 'access');
  const { api } = useDashboard();
  const { token = '' } = useParams({ strict: false });
  const query = reads(['unsubscribe'], 'POST /dashboard/api/unsubscribe/state', { body: { token } });
  const state = useQuery({ ...query, staleTime: Infinity });
  const off = useMutation({ mutationFn: () => api('POST /dashboard/api/unsubscribe', { body: { token } }) });
  const shown = off.data ?? state.data;
  if (shown === undefined && state.isError) return <NotLoadedFrame query={state} />;
  if (shown === undefined) {
    return (
      <AccessFrame title={t('loading')}>
        <Skeleton width={3} />
      </AccessFrame>
    );
  }
  const { notification } = shown;
  if (notification === null || shown.state === 'unknown') {
    return <AccountFrame title={t('unsubscribe_unknown_title')} text={t('unsubscribe_unknown_text')} />;
  }
  const kind = t(`unsubscribe_${notification satisfies NonNullable<UnsubscribeAnswer['notification']>}`);
  const what = shown.project === null ? kind : t('unsubscribe_of', { what: kind, project: shown.project });
  if (shown.state === 'used') {
    return <AccountFrame title={t('unsubscribe_done_title')} text={t('unsubscribe_done_text', { what })} />;
  }
  return (
    <MailedLinkFrame
      title={t('unsubscribe_title')}
      lead={t('unsubscribe_text', { what })}
      confirm={t('unsubscribe_confirm')}
      action={off}
    />
  );
}
