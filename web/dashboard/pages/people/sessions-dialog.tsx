import { useMutation, useQuery } from '@tanstack/react-query';
import type { PersonView } from '../../../../src/http/dashboard/people/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOfForm } from '../../problem.ts';
import { useSignedIn } from '../../session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Ago } from '../../ui/moment.tsx';
import rows from '../account/account.module.css';
import { deviceName } from '../account/device-name.ts';
import { Failed } from '../keys/failed.tsx';
import { sessionsOfQuery } from './queries.ts';

/** Where somebody is signed in; owners end it. */
export function SessionsDialog({ person, onClose }: { readonly person: PersonView; readonly onClose: () => void }) {
  const { t } = useLocale('people');
  const { api, queries, toast } = useDashboard();
  const mayEnd = useSignedIn().person.actions.includes('manage_people');
  const { id, email } = person;
  const query = sessionsOfQuery(api, id);
  const sessions = useQuery(query);
  const onSettled = () => queries.invalidateQueries({ queryKey: query.queryKey });
  const onSuccess = (): void => toast(t('sessions_ended'));
  const end = useMutation({
    mutationFn: (session: string) =>
      api('POST /dashboard/api/people/:person/sessions/end', { params: { person: id }, body: { id: session } }),
    onSettled,
    onSuccess,
  });
  const endAll = useMutation({
    mutationFn: () => api('POST /dashboard/api/people/:person/sessions/end-all', { params: { person: id } }),
    onSettled,
    onSuccess,
  });
  const found = sessions.data;
  const hasSome = mayEnd && found !== undefined && found.length > 0;
  return (
    <Dialog title={t('sessions_of')} description={t('sessions_of_text', { email })} onClose={onClose}>
      {found === undefined ? <Failed query={sessions} rows={2} /> : null}
      {found?.length === 0 ? <p>{t('sessions_none', { email })}</p> : null}
      <ul>
        {found?.map((one) => (
          <li key={one.id} className={rows.row}>
            <div>
              <b>{deviceName(one.user_agent) ?? one.ip}</b>
              {one.is_current ? <span className={rows.badge}>{t('session_yours')}</span> : null}
              <small title={one.user_agent ?? undefined}>
                {one.ip} · {t('session_used')} <Ago iso={one.last_used_at} />
              </small>
            </div>
            {mayEnd ? (
              <Button small busy={end.isPending && end.variables === one.id} onClick={() => end.mutate(one.id)}>
                {t('end_session_of')}
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      {hasSome ? (
        <DialogActions
          confirm={t('end_all_sessions')}
          isDangerous
          isBusy={endAll.isPending}
          problem={problemOfForm(endAll.error ?? end.error, [], t)}
          onCancel={onClose}
          onConfirm={() => endAll.mutate()}
        />
      ) : null}
    </Dialog>
  );
}
