import { useState } from 'react';
import type { Role } from '../../../../src/domain/role.ts';
import type { PersonView } from '../../../../src/http/dashboard/people/contract.ts';
import { useChange } from '../../change.ts';
import { useDashboard, sessionQuery } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { EmailField, SelectField } from '../../ui/form.tsx';
import { useSignedIn } from '../../session.ts';
import { Choices } from '../../ui/choices.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Once } from '../../ui/value.tsx';
import { reads } from '../../api.ts';

interface InviteDialogProps {
  /** The person who is invited again; null for a new person. */
  readonly of: PersonView | null;
  readonly onClose: () => void;
}

/** Invites a new person. */
export function NewPersonDialog({ onClose }: Pick<InviteDialogProps, 'onClose'>) {
  return <InviteDialog of={null} onClose={onClose} />;
}

/** Invites a person by a link. */
export function InviteDialog({ of, onClose }: InviteDialogProps) {
  const { t } = useLocale('people');
  const known = of?.memberships[0];
  const [email, setEmail] = useState(of?.email ?? '');
  const [role, setRole] = useState<Role>(known?.role ?? 'viewer');
  const [project, setProject] = useState(known?.project ?? '');
  const invite = useChange({
    send: (api) =>
      api('POST /dashboard/api/people/invite', {
        body: { email: email.trim(), role, project: project === '' ? null : project },
      }),
    stale: PEOPLE_KEY,
  });
  if (invite.data !== undefined) {
    const { email: invited } = invite.data.person;
    return (
      <LinkDialog title={t('invite_link', { email: invited })} email={invited} made={invite.data} onClose={onClose} />
    );
  }
  return (
    <FormDialog
      name={t(of === null ? 'invite' : 'invite_again')}
      text={t('invite_text')}
      isDirty={email !== (of?.email ?? '')}
      action={invite}
      fields={['email']}
      onClose={onClose}
    >
      <EmailField
        label={t('invitee_email')}
        autoComplete="off"
        value={email}
        readOnly={of !== null}
        problem={problemOf(invite.error, 'email')}
        onValue={setEmail}
      />
      <WhereField value={project} onValue={setProject} />
      <RoleField<Role> value={role} onValue={setRole} />
    </FormDialog>
  );
}

type Chosen = Role | 'none';

/** Changes a person's role, in one project or in all. */
export function RoleDialog({ person: given, onClose }: { readonly person: PersonView; readonly onClose: () => void }) {
  const { t } = useLocale('people');
  const { api, queries } = useDashboard();
  // The change began from these roles, even if others arrive.
  const [person] = useState(given);
  const [project, setProject] = useState(person.memberships[0]?.project ?? '');
  const roleIn = (where: string): Chosen =>
    person.memberships.find((one) => (one.project ?? '') === where)?.role ?? 'none';
  const [role, setRole] = useState<Chosen>(roleIn(project));
  const seen = roleIn(project);
  const change = useChange({
    send: () =>
      api('POST /dashboard/api/people/role', {
        body: {
          id: person.id,
          project: project === '' ? null : project,
          role: role === 'none' ? null : role,
          seen: seen === 'none' ? null : seen,
        },
      }),
    stale: PEOPLE_KEY,
    done: t('role_changed'),
    onDone: () => {
      // The person may be the signed-in one.
      void queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
      onClose();
    },
  });
  const { email } = person;
  return (
    <FormDialog
      name={t('change_role')}
      confirm={t('save')}
      text={t('change_role_text', { email })}
      isDirty={role !== seen}
      action={change}
      onClose={onClose}
    >
      <WhereField
        value={project}
        onValue={(where) => {
          setProject(where);
          setRole(roleIn(where));
        }}
      />
      <RoleField<Chosen>
        value={role}
        none={t(project === '' ? 'no_role' : 'no_role_here')}
        onValue={(value) => setRole(value)}
      />
    </FormDialog>
  );
}

export const ROLES = ['owner', 'admin', 'developer', 'support', 'viewer', 'cashier'] as const satisfies readonly Role[];

interface WhereFieldProps {
  /** Empty: all projects. */
  readonly value: string;
  readonly onValue: (project: string) => void;
}

/** The scope of a role. */
function WhereField({ value, onValue }: WhereFieldProps) {
  const { t } = useLocale('people');
  const { projects } = useSignedIn();
  return (
    <SelectField
      label={t('role_where')}
      value={value}
      options={[['', t('all_projects')], ...projects.map(({ id, name }) => [id, name] as const)]}
      hint={value === '' ? t('all_projects_text') : undefined}
      onValue={onValue}
    />
  );
}

interface RoleFieldProps<Value extends Role | 'none'> {
  readonly value: Value;
  /** The text for having no role there; absent where a role is required. */
  readonly none?: string;
  readonly onValue: (role: Value | Role) => void;
}

/** The role, with the permissions of each. */
function RoleField<Value extends Role | 'none'>({ value, none, onValue }: RoleFieldProps<Value>) {
  const { t } = useLocale('people');
  const roles = ROLES.map((role) => ({ value: role, text: t(`role_${role}`), detail: t(`role_${role}_text`) }));
  return (
    <Choices<Role | 'none'>
      label={t('role')}
      value={value}
      options={none === undefined ? roles : [...roles, { value: 'none', text: none }]}
      onValue={(role) => onValue(role as Value | Role)}
    />
  );
}

interface LinkDialogProps {
  readonly title: string;
  readonly email: string;
  readonly made: { readonly link: string; readonly expires_at: string; readonly is_mailed: boolean };
  readonly onClose: () => void;
}

/** Shows a one-time link. Only its button closes it, because the link is never shown again. */
export function LinkDialog({ title, email, made, onClose }: LinkDialogProps) {
  const { t, dateTime } = useLocale('people');
  const { link, expires_at: until, is_mailed: isMailed } = made;
  return (
    <Dialog title={title} description={t('link_until', { email, when: dateTime(until) })}>
      <Notice kind="warning">{t('link_warning', { email })}</Notice>
      {isMailed ? <p>{t('link_mailed', { email })}</p> : null}
      <Once text={link} copy={t('link_copy')} />
      <DialogActions confirm={t('link_done')} onConfirm={onClose} />
    </Dialog>
  );
}

/** The prefix of what is read again after a change of people. */
export const PEOPLE_KEY = ['people'];

export const peopleQuery = reads(PEOPLE_KEY, 'GET /dashboard/api/people');

export function sessionsOfQuery(person: string) {
  return reads(PEOPLE_KEY, 'GET /dashboard/api/people/:person/sessions', { params: { person } });
}
