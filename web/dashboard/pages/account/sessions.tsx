import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { reads } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemText } from '../../problem.ts';
import { ConfirmDialog } from '../../ui/action-dialog.tsx';
import { Ago } from '../../ui/value.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Problem } from '../../ui/notice.tsx';
import { SkeletonRows } from '../../ui/placeholder.tsx';
import rows from '../../ui/row.module.css';
import { deviceName } from './device-name.ts';

/** The person's sessions. */
export function Sessions() {
  const { t } = useLocale('access');
  const { api, queries, toast } = useDashboard();
  const [asksForAll, askForAll] = useState(false);
  const sessions = useQuery(reads(['sessions'], 'GET /dashboard/api/account/sessions'));
  const end = useMutation({
    mutationFn: (id: string) => api('POST /dashboard/api/account/sessions/end', { body: { id } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['sessions'] });
      toast(t('session_ended'));
    },
    onError: (error) => toast(problemText(error, t), 'problem'),
  });
  return (
    <Card title={t('sessions')} actions={<Button onClick={() => askForAll(true)}>{t('sign_out_everywhere')}</Button>}>
      <Problem error={sessions.error} />
      {sessions.isPending ? <SkeletonRows count={2} /> : null}
      <ul>
        {sessions.data?.data.map((session) => (
          <li className={rows.row} key={session.id}>
            <div>
              <b>{deviceName(session.user_agent) ?? t('unknown_device')}</b>
              {session.is_current ? <span className={rows.badge}>{t('this_session')}</span> : null}
              <small title={session.user_agent ?? undefined}>
                {session.ip} · {t('last_used')} <Ago iso={session.last_used_at} />
              </small>
            </div>
            {session.is_current ? null : (
              <Button
                small
                busy={end.isPending && end.variables === session.id}
                aria-label={t('end_session_on', { device: deviceName(session.user_agent) ?? t('unknown_device') })}
                onClick={() => end.mutate(session.id)}
              >
                {t('end_session')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {asksForAll ? <EndAllDialog onClose={() => askForAll(false)} /> : null}
    </Card>
  );
}

function EndAllDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale('access');
  const { api, isLeaving } = useDashboard();
  const end = useMutation({
    onMutate: () => isLeaving.set(true),
    onError: () => isLeaving.set(false),
    mutationFn: () => api('POST /dashboard/api/account/sessions/end-all'),
    onSuccess: () => location.assign('/dashboard/sign-in'),
  });
  return (
    <ConfirmDialog
      name={t('sign_out_everywhere')}
      text={t('sign_out_everywhere_text')}
      isDangerous
      action={end}
      onClose={onClose}
    />
  );
}
