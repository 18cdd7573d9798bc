import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ViewAnswer } from '../../../../src/http/dashboard/contract/views.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { useSignedIn } from '../../session.ts';
import { ConfirmDialog, FormDialog } from '../../ui/action-dialog.tsx';
import { Field } from '../../ui/field.tsx';
import css from './list-dialogs.module.css';
import { viewsQuery } from './list-queries.ts';
import { viewQuery, type PaymentsSearch } from './search.ts';
import type { ViewAction } from './views.tsx';

interface ViewDialogProps {
  readonly action: ViewAction;
  readonly search: PaymentsSearch;
  /** Shows a view; null: none. */
  readonly onView: (id: string | null) => void;
  readonly onClose: () => void;
}

/** Saves, updates or deletes a view of the list. */
export function ViewDialog({ action, ...rest }: ViewDialogProps) {
  if (action.kind === 'save') return <SaveDialog {...rest} />;
  return action.kind === 'update' ? (
    <UpdateDialog {...rest} view={action.view} />
  ) : (
    <DeleteDialog {...rest} view={action.view} />
  );
}

type OwnProps = Omit<ViewDialogProps, 'action'>;
type OfViewProps = OwnProps & { readonly view: ViewAnswer };

const MAX_NAME = 60;
const VIEWS = '/dashboard/api/projects/:project/views';

function SaveDialog({ search, onView, onClose }: OwnProps) {
  const { t } = useLocale();
  const { api, toast } = useDashboard();
  const { project } = useScope();
  const { projects } = useSignedIn();
  const refresh = useRefresh();
  const [name, setName] = useState('');
  const [shared, share] = useState(false);
  const mayShare = projects.find(({ id }) => id === project)?.actions.includes('share_views') === true;
  const save = useMutation({
    mutationFn: () => api(`POST ${VIEWS}`, { params: { project }, body: { name, query: viewQuery(search), shared } }),
    onSuccess: async (view) => {
      await refresh();
      onView(view.id);
      toast(t('view_saved', { name: view.name }));
      onClose();
    },
  });
  return (
    <FormDialog
      name={t('save_view')}
      text={t('save_view_text')}
      isDirty={name !== ''}
      action={save}
      fields={['name']}
      onClose={onClose}
    >
      <Field
        label={t('name')}
        value={name}
        required
        max={MAX_NAME}
        problem={problemOf(save.error, 'name')}
        onValue={setName}
      />
      {mayShare ? (
        <div className={css.checks}>
          <label>
            <input type="checkbox" checked={shared} onChange={() => share(!shared)} />
            <span>{t('view_shared')}</span>
          </label>
        </div>
      ) : null}
    </FormDialog>
  );
}

function UpdateDialog({ view, search, onClose }: OfViewProps) {
  const { t } = useLocale();
  const { api, toast } = useDashboard();
  const { project } = useScope();
  const refresh = useRefresh();
  const { id, name, shared, version } = view;
  const update = useMutation({
    mutationFn: () =>
      api(`POST ${VIEWS}/:view`, {
        params: { project, view: id },
        body: { name, shared, version, query: viewQuery(search) },
      }),
    onSuccess: async () => {
      await refresh();
      toast(t('view_saved', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      name={t('update_view')}
      text={t(shared ? 'update_shared_view_text' : 'update_view_text', { name })}
      action={update}
      onClose={onClose}
    />
  );
}

function DeleteDialog({ view, onView, onClose }: OfViewProps) {
  const { t } = useLocale();
  const { api, toast } = useDashboard();
  const { project } = useScope();
  const refresh = useRefresh();
  const { id, name, shared, version } = view;
  const remove = useMutation({
    mutationFn: () => api(`POST ${VIEWS}/:view/delete`, { params: { project, view: id }, body: { version } }),
    onSuccess: async () => {
      await refresh();
      onView(null);
      toast(t('view_deleted', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      name={t('delete_view')}
      text={t(shared ? 'delete_shared_view_text' : 'delete_view_text', { name })}
      isDangerous
      action={remove}
      onClose={onClose}
    />
  );
}

function useRefresh(): () => Promise<void> {
  const { api, queries } = useDashboard();
  const { project } = useScope();
  return () => queries.invalidateQueries({ queryKey: viewsQuery(api, { project }).queryKey });
}
