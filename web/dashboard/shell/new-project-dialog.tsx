import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useDashboard } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { problemOf, problemOfForm } from '../problem.ts';
import { sessionQuery } from '../session.ts';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';

/** A project of its own: payments, keys and wallets of another shop. */
export function NewProjectDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale();
  const { api, queries, toast, unsaved } = useDashboard();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const create = useMutation({
    mutationFn: () => api('POST /dashboard/api/projects', { body: { name: name.trim() } }),
    onSuccess: async (project) => {
      await queries.fetchQuery({ ...sessionQuery(api), staleTime: 0 });
      toast(t('project_created', { name: project.name }));
      unsaved.set(0);
      onClose();
      await navigate({ to: '/projects/$project/$mode', params: { project: project.id, mode: 'test' } });
    },
  });
  return (
    <Dialog title={t('new_project')} description={t('new_project_text')} onClose={onClose}>
      <Form onSubmit={() => create.mutate()} isDirty={name !== ''} fault={create.error}>
        <Field
          label={t('name')}
          value={name}
          maxLength={100}
          required
          autoComplete="off"
          problem={problemOf(create.error, 'name')}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <DialogActions
          confirm={t('new_project')}
          isBusy={create.isPending}
          problem={problemOfForm(create.error, ['name'], t)}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}
