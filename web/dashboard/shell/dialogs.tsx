import { useLocale } from '../locale.tsx';
import type { TextKey } from '../texts/parts.ts';
import { Dialog } from '../ui/dialog.tsx';
import type { Command } from './commands.ts';
import css from './palette.module.css';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useDashboard, sessionQuery } from '../dashboard.ts';
import { FormDialog } from '../ui/action-dialog.tsx';
import { NameField } from '../ui/form.tsx';

/** The keys of the shell, and of lists. */
const KEYS = {
  everywhere: [
    [['/'], 'key_search'],
    [['Ctrl', 'K'], 'key_palette'],
    [['Esc'], 'key_close'],
    [['?'], 'key_help'],
  ],
  lists: [
    [['j'], 'key_next'],
    [['k'], 'key_previous'],
    [['Enter'], 'key_open'],
    [['x'], 'key_select'],
    [['e'], 'key_export'],
  ],
} as const satisfies Readonly<Record<string, readonly (readonly [readonly string[], TextKey<'palette'>])[]>>;

interface HelpProps {
  readonly commands: readonly Command[];
  readonly onClose: () => void;
}

/** A list of all keyboard shortcuts that the person's role permits. */
export function HelpDialog({ commands, onClose }: HelpProps) {
  const { t } = useLocale('palette');
  return (
    <Dialog title={t('shortcuts')} wide onClose={onClose}>
      <div className={css.help} tabIndex={0}>
        {(['do', 'go', 'switch'] as const).map((group) => {
          const rows = commands.filter((command) => command.group === group && command.keys !== '');
          return (
            <Keys
              key={group}
              title={t(`palette_${group}`)}
              rows={rows.map(({ key, keys, text }) => [key, keys.split(' '), text])}
            />
          );
        })}
        {(['lists', 'everywhere'] as const).map((group) => (
          <Keys
            key={group}
            title={t(`keys_${group}`)}
            rows={KEYS[group].map(([keys, text]) => [text, keys, t(text)])}
          />
        ))}
      </div>
    </Dialog>
  );
}

interface KeysProps {
  readonly title: string;
  /** An identity, the keys and what they do. */
  readonly rows: readonly (readonly [string, readonly string[], string])[];
}

function Keys({ title, rows }: KeysProps) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <dl className={css.keys}>
        {rows.map(([id, keys, text]) => (
          <div key={id}>
            <dt>{text}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
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
