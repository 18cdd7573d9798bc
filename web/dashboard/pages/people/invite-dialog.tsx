import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Role } from '../../../../src/domain/role.ts';
import type { PersonView } from '../../../../src/http/dashboard/people/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { EmailField } from '../../ui/field.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { peopleQuery } from './queries.ts';
import { RoleField, WhereField } from './role-fields.tsx';

interface InviteDialogProps {
  /** Who is invited again; null: somebody new. */
  readonly of: PersonView | null;
  readonly onClose: () => void;
}

/** Invites somebody by a link. */
export function InviteDialog({ of, onClose }: InviteDialogProps) {
  const { t } = useLocale('people');
  const { api, queries } = useDashboard();
  const known = of?.memberships[0];
  const [email, setEmail] = useState(of?.email ?? '');
  const [role, setRole] = useState<Role>(known?.role ?? 'viewer');
  const [project, setProject] = useState(known?.project ?? '');
  const invite = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/people/invite', {
        body: { email: email.trim(), role, project: project === '' ? null : project },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: peopleQuery(api).queryKey }),
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
