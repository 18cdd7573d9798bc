import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useDashboard, sessionQuery } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { FormDialog } from '../ui/action-dialog.tsx';
import { NameField } from '../ui/form.tsx';

/** Creates a project, with payments, keys and wallets of its own. */
export function NewProjectDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale();
  const { api, queries, toast, unsaved } = useDashboard();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const create = useMutation({
    mutationFn: () => api('POST /dashboard/api/projects', { body: { name: name.trim() } }),
    onSuccess: async (project) => {
      await queries.fetchQuery({ ...sessionQuery, staleTime: 0 });
      toast(t('project_created', { name: project.name }));
      unsaved.set(0);
      onClose();
      await navigate({ to: '/projects/$project/$mode', params: { project: project.id, mode: 'test' } });
    },
  });
  return (
    <FormDialog
      name={t('new_project')}
      text={t('new_project_text')}
      isDirty={name !== ''}
      action={create}
      fields={['name']}
      onClose={onClose}
    >
      <NameField value={name} fault={create.error} onValue={setName} />
    </FormDialog>
  );
}
