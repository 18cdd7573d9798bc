import { useLocale } from '../locale.tsx';
import type { TextKey } from '../texts/parts.ts';
import { Dialog } from '../ui/dialog.tsx';
import { PAGES } from './pages.ts';
import css from './palette.module.css';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useDashboard, sessionQuery } from '../dashboard.ts';
import { FormDialog } from '../ui/action-dialog.tsx';
import { NameField } from '../ui/form.tsx';

const KEYS = [
  [['/'], 'key_search'],
  [['Ctrl', 'K'], 'key_palette'],
  ...PAGES.map(({ key, text }) => [['g', key], `key_${text}`] as const),
  [['j'], 'key_next'],
  [['k'], 'key_previous'],
  [['Enter'], 'key_open'],
  [['e'], 'key_export'],
  [['Esc'], 'key_close'],
  [['?'], 'key_help'],
] as const satisfies readonly (readonly [readonly string[], TextKey])[];

/** A list of all keyboard shortcuts. */
export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale();
  return (
    <Dialog title={t('shortcuts')} onClose={onClose}>
      <dl className={css.keys}>
        {KEYS.map(([keys, text]) => (
          <div key={text}>
            <dt>{t(text)}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

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
