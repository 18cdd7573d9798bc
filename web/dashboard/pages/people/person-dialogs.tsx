import { useMutation } from '@tanstack/react-query';
import type { PersonView } from '../../../../src/http/dashboard/people/contract.ts';
import type { Api } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { ConfirmDialog } from '../../ui/action-dialog.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { peopleQuery } from './queries.ts';
import { RoleDialog } from './role-dialog.tsx';
import { SessionsDialog } from './sessions-dialog.tsx';

/** What an owner does about people. */
export type PersonAct =
  /** `of`: who is invited again. */
  | { readonly kind: 'invite'; readonly of: PersonView | null }
  | {
      readonly kind: 'change_role' | 'reset' | 'remove_factors' | 'deactivate' | 'sessions';
      readonly person: PersonView;
    };

/** The dialog of what an owner does. */
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
    case 'sessions':
      return <SessionsDialog person={act.person} onClose={onClose} />;
  }
}

interface OfPerson {
  readonly person: PersonView;
  readonly onClose: () => void;
}

/** Something done to a person, after which the list is read again, whatever was answered. */
function useAct<Answer>(act: (api: Api) => Promise<Answer>, onSuccess?: () => void) {
  const { api, queries } = useDashboard();
  return useMutation({
    mutationFn: () => act(api),
    onSettled: () => queries.invalidateQueries({ queryKey: peopleQuery(api).queryKey }),
    ...(onSuccess !== undefined && { onSuccess }),
  });
}

function ResetDialog({ person: { id, email }, onClose }: OfPerson) {
  const { t } = useLocale('people');
  const reset = useAct((api) => api('POST /dashboard/api/people/reset', { body: { id } }));
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

/** What needs nothing but a word of confirmation. */
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

function SimpleDialog({ kind, person: { id, email }, onClose }: OfPerson & { readonly kind: keyof typeof ACTS }) {
  const { t } = useLocale('people');
  const { toast } = useDashboard();
  const { route, name, text, done } = ACTS[kind];
  const action = useAct(
    (api) => api(route, { body: { id } }),
    () => {
      toast(t(done, { email }));
      onClose();
    },
  );
  return <ConfirmDialog name={t(name)} text={t(text, { email })} isDangerous action={action} onClose={onClose} />;
}
