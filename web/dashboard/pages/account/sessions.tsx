import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { reads } from '../../api.ts';
import { useChange } from '../../change.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemText } from '../../problem.ts';
import { ConfirmDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { deviceName, SessionRow } from './session-row.tsx';

/** The person's sessions. */
export function Sessions() {
  const { t } = useLocale('access');
  const { queries, toast } = useDashboard();
  const [asksForAll, askForAll] = useState(false);
  const sessions = useQuery(reads(['sessions'], 'GET /dashboard/api/account/sessions'));
  const end = useChange({
    send: (api, id: string) => api('POST /dashboard/api/account/sessions/end', { body: { id } }),
    done: t('session_ended'),
    onDone: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
    onRefused: (error) => toast(problemText(error, t), 'problem'),
  });
  return (
    <Card title={t('sessions')} actions={<Button onClick={() => askForAll(true)}>{t('sign_out_everywhere')}</Button>}>
      {sessions.data === undefined ? <NotLoaded query={sessions} rows={2} /> : null}
      <ul>
        {sessions.data?.data.map((session) => (
          <SessionRow
            key={session.id}
            session={session}
            name={deviceName(session.user_agent) ?? t('unknown_device')}
            own={t('this_session')}
            used={t('last_used')}
          >
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
          </SessionRow>
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
