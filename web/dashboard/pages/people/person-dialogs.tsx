import { useQuery } from '@tanstack/react-query';
import type { PersonView } from '../../../../src/http/dashboard/people/contract.ts';
import { useLocale } from '../../locale.tsx';
import { ConfirmDialog } from '../../ui/action-dialog.tsx';
import { InviteDialog, LinkDialog, RoleDialog, PEOPLE_KEY, sessionsOfQuery } from './role-dialogs.tsx';
import { KeysDialog, MadeKeys } from './made-keys.tsx';
import { problemOfForm } from '../../problem.ts';
import { useSignedIn } from '../../session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { useChange } from '../../change.ts';
import { deviceName, SessionRow } from '../account/session-row.tsx';

/** An owner's action on people. */
export type PersonAct =
  /** `of`: the person who is invited again. */
  | { readonly kind: 'invite'; readonly of: PersonView | null }
  | {
      readonly kind: 'change_role' | 'reset' | 'remove_factors' | 'deactivate' | 'keys' | 'sessions';
      readonly person: PersonView;
    };

/** The dialog of an owner's action. */
export function PersonDialog({ act, onClose }: { readonly act: PersonAct; readonly onClose: () => void }) {
  switch (act.kind) {
    case 'invite':
      return <InviteDialog of={act.of} onClose={onClose} />;
    case 'change_role':
      return <RoleDialog person={act.person} onClose={onClose} />;
    case 'reset':
      return <ResetDialog person={act.person} onClose={onClose} />;
    case 'remove_factors':
    case 'deactivate':
      return <SimpleDialog kind={act.kind} person={act.person} onClose={onClose} />;
    case 'keys':
      return <KeysDialog person={act.person} onClose={onClose} />;
    case 'sessions':
      return <SessionsDialog person={act.person} onClose={onClose} />;
  }
}

interface OfPerson {
  readonly person: PersonView;
  readonly onClose: () => void;
}

function ResetDialog({ person: { id, email }, onClose }: OfPerson) {
  const { t } = useLocale('people');
  const reset = useChange({
    send: (api) => api('POST /dashboard/api/people/reset', { body: { id } }),
    stale: PEOPLE_KEY,
  });
  if (reset.data !== undefined) {
    return <LinkDialog title={t('reset_link', { email })} email={email} made={reset.data} onClose={onClose} />;
  }
  return (
    <ConfirmDialog
      name={t('reset_password')}
      text={t('reset_password_text', { email })}
      isDangerous
      action={reset}
      onClose={onClose}
    />
  );
}

/** Actions that need nothing but a confirmation. */
const ACTS = {
  remove_factors: {
    route: 'POST /dashboard/api/people/remove-factors',
    name: 'remove_factors',
    text: 'remove_factors_text',
    done: 'remove_factors_done',
  },
  deactivate: {
    route: 'POST /dashboard/api/people/deactivate',
    name: 'deactivate',
    text: 'deactivate_text',
    done: 'deactivated',
  },
} as const;

function SimpleDialog({ kind, person, onClose }: OfPerson & { readonly kind: keyof typeof ACTS }) {
  const { t } = useLocale('people');
  const { id, email } = person;
  const { route, name, text, done } = ACTS[kind];
  const action = useChange({
    send: (api) => api(route, { body: { id } }),
    stale: PEOPLE_KEY,
    done: t(done, { email }),
    onDone: onClose,
  });
  return (
    <ConfirmDialog name={t(name)} text={t(text, { email })} isDangerous action={action} onClose={onClose}>
      {kind === 'deactivate' ? <MadeKeys person={person} lead={t('deactivate_keys', { email })} /> : null}
    </ConfirmDialog>
  );
}

/** A person's sessions; owners can end them. */
function SessionsDialog({ person, onClose }: { readonly person: PersonView; readonly onClose: () => void }) {
  const { t } = useLocale('people');
  const mayEnd = useSignedIn().person.actions.includes('manage_people');
  const { id, email } = person;
  const params = { person: id };
  const query = sessionsOfQuery(id);
  const sessions = useQuery(query);
  const ended = { stale: query.queryKey, done: t('sessions_ended') };
  const end = useChange({
    send: (api, session: string) =>
      api('POST /dashboard/api/people/:person/sessions/end', { params, body: { id: session } }),
    ...ended,
  });
  const endAll = useChange({
    send: (api) => api('POST /dashboard/api/people/:person/sessions/end-all', { params }),
    ...ended,
  });
  const open = sessions.data?.data;
  const hasSome = mayEnd && open !== undefined && open.length > 0;
  return (
    <Dialog title={t('sessions_of')} description={t('sessions_of_text', { email })} onClose={onClose}>
      {open === undefined ? <NotLoaded query={sessions} rows={2} /> : null}
      {open?.length === 0 ? <p>{t('sessions_none', { email })}</p> : null}
      <ul>
        {open?.map((one) => (
          <SessionRow
            key={one.id}
            session={one}
            name={deviceName(one.user_agent) ?? one.ip}
            own={t('session_yours')}
            used={t('session_used')}
          >
            {mayEnd ? (
              <Button small busy={end.isPending && end.variables === one.id} onClick={() => end.mutate(one.id)}>
                {t('end_session_of')}
              </Button>
            ) : null}
          </SessionRow>
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
