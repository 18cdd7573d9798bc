import { useChange } from '../../change.ts';
import { useState } from 'react';
import type { ViewAnswer } from '../../../../src/http/dashboard/saved-views/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useActions } from '../../session.ts';
import { ConfirmDialog, FormDialog } from '../../ui/action-dialog.tsx';
import { Field } from '../../ui/field.tsx';
import css from './list-dialogs.module.css';
import { viewsQuery } from './list-queries.ts';
import { viewQuery, type PaymentsSearch } from './search.ts';
import type { ViewAction } from './views.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { isListColumn, LIST_COLUMNS, USUAL_LIST_COLUMNS, type ListColumn, toggled } from './columns.ts';
import { useScope } from '../../scope.ts';

interface ViewDialogProps {
  readonly action: ViewAction;
  readonly search: PaymentsSearch;
  /** Shows a view; null for none. */
  readonly onView: (id: string | null) => void;
  readonly onClose: () => void;
}

/** Saves, renames, updates or deletes a view of the list. */
export function ViewDialog({ action, ...rest }: ViewDialogProps) {
  switch (action.kind) {
    case 'save':
      return <NameDialog {...rest} view={null} />;
    case 'rename':
      return <NameDialog {...rest} view={action.view} />;
    case 'update':
    case 'delete':
      return <ChangeDialog {...rest} kind={action.kind} view={action.view} />;
  }
}

type OwnProps = Omit<ViewDialogProps, 'action'>;
type OfViewProps = OwnProps & { readonly kind: 'update' | 'delete'; readonly view: ViewAnswer };

const MAX_NAME = 60;
const VIEWS = '/dashboard/api/projects/:project/views';

interface NameDialogProps extends OwnProps {
  /** The view to rename, in the shown version; null saves a new one. */
  readonly view: ViewAnswer | null;
}

/** Names a view, and shares it. */
function NameDialog({ view, search, onView, onClose }: NameDialogProps) {
  const { t } = useLocale('list');
  const { project } = useScope();
  const refresh = useRefresh();
  const [name, setName] = useState(view?.name ?? '');
  const [shared, share] = useState(view?.shared ?? false);
  const mayShare = useActions().includes('share_views');
  const save = useChange({
    send: (api) =>
      view === null
        ? api(`POST ${VIEWS}`, { params: { project }, body: { name, query: viewQuery(search), shared } })
        : api(`POST ${VIEWS}/:view`, {
            params: { project, view: view.id },
            body: { name, shared, version: view.version, query: view.query },
          }),
    done: (saved) => t('view_saved', { name: saved.name }),
    onDone: async (saved) => {
      await refresh();
      if (view === null) onView(saved.id);
      onClose();
    },
  });
  return (
    <FormDialog
      action={save}
      fields={['name']}
      name={t(view === null ? 'save_view' : 'rename_view')}
      {...(view !== null && { confirm: t('save') })}
      text={view === null ? t('save_view_text') : null}
      isDirty={name !== (view?.name ?? '')}
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

const TEXTS = {
  update: { name: 'update_view', own: 'update_view_text', shared: 'update_shared_view_text', done: 'view_saved' },
  delete: { name: 'delete_view', own: 'delete_view_text', shared: 'delete_shared_view_text', done: 'view_deleted' },
} as const;

/** Updates or deletes a view in the shown version. */
function ChangeDialog({ kind, view, search, onView, onClose }: OfViewProps) {
  const { t } = useLocale('list');
  const { project } = useScope();
  const refresh = useRefresh();
  const { id, name, shared, version } = view;
  const texts = TEXTS[kind];
  const params = { project, view: id };
  const change = useChange<unknown>({
    send: (api) =>
      kind === 'delete'
        ? api(`POST ${VIEWS}/:view/delete`, { params, body: { version } })
        : api(`POST ${VIEWS}/:view`, { params, body: { name, shared, version, query: viewQuery(search) } }),
    done: t(texts.done, { name }),
    onDone: async () => {
      await refresh();
      if (kind === 'delete') onView(null);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      name={t(texts.name)}
      text={t(shared ? texts.shared : texts.own, { name })}
      isDangerous={kind === 'delete'}
      action={change}
      onClose={onClose}
    />
  );
}

function useRefresh(): () => Promise<void> {
  const { queries } = useDashboard();
  const { queryKey } = viewsQuery(useScope());
  return () => queries.invalidateQueries({ queryKey });
}

interface ColumnsDialogProps {
  readonly columns: readonly ListColumn[];
  readonly onColumns: (columns: readonly ListColumn[]) => void;
  readonly onClose: () => void;
}

/** Chooses the columns of the list. */
export function ColumnsDialog({ columns, onColumns, onClose }: ColumnsDialogProps) {
  const { t } = useLocale('list');
  const [wanted, want] = useState<ReadonlySet<ListColumn>>(new Set(columns));
  const all = Object.keys(LIST_COLUMNS).filter(isListColumn);
  return (
    <Dialog title={t('columns')} description={t('columns_text')} onClose={onClose}>
      <Form onSubmit={() => onColumns(all.filter((one) => wanted.has(one)))}>
        <fieldset className={css.checks}>
          <legend className="unseen">{t('columns')}</legend>
          {all.map((column) => (
            <label key={column}>
              <input
                type="checkbox"
                checked={wanted.has(column)}
                disabled={column === 'amount'}
                onChange={() => want(toggled(wanted, column))}
              />
              <span>{t(LIST_COLUMNS[column])}</span>
            </label>
          ))}
        </fieldset>
        <LinkButton onClick={() => want(new Set(USUAL_LIST_COLUMNS))}>{t('columns_usual')}</LinkButton>
        <DialogActions confirm={t('save')} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
