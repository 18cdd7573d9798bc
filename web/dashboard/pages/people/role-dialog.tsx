import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Role } from '../../../../src/domain/role.ts';
import type { PersonView } from '../../../../src/http/dashboard/people/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { sessionQuery } from '../../session.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { peopleQuery } from './queries.ts';
import { RoleField, WhereField } from './role-fields.tsx';

type Chosen = Role | 'none';

/** Changes what somebody is, in one project or in all. */
export function RoleDialog({ person: given, onClose }: { readonly person: PersonView; readonly onClose: () => void }) {
  const { t } = useLocale('people');
  const { api, queries, toast } = useDashboard();
  // The change began from these roles, whatever comes meanwhile.
  const [person] = useState(given);
  const [project, setProject] = useState(person.memberships[0]?.project ?? '');
  const roleIn = (where: string): Chosen =>
    person.memberships.find((one) => (one.project ?? '') === where)?.role ?? 'none';
  const [role, setRole] = useState<Chosen>(roleIn(project));
  const seen = roleIn(project);
  const change = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/people/role', {
        body: {
          id: person.id,
          project: project === '' ? null : project,
          role: role === 'none' ? null : role,
          seen: seen === 'none' ? null : seen,
        },
      }),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: peopleQuery(api).queryKey });
      void queries.invalidateQueries({ queryKey: sessionQuery(api).queryKey });
    },
    onSuccess: () => {
      toast(t('role_changed'));
      onClose();
    },
  });
  const { email } = person;
  return (
    <FormDialog
      name={t('change_role')}
      text={t('change_role_text', { email })}
      isDirty={role !== seen}
      action={change}
      fields={[]}
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
