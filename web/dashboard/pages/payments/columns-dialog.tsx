import { useState } from 'react';
import { useLocale } from '../../locale.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { isListColumn } from './columns.ts';
import { LIST_COLUMNS, USUAL_LIST_COLUMNS, type ListColumn } from './list-columns.ts';
import css from './list-dialogs.module.css';
import { toggled } from './toggled.ts';

interface ColumnsDialogProps {
  readonly columns: readonly ListColumn[];
  readonly onColumns: (columns: readonly ListColumn[]) => void;
  readonly onClose: () => void;
}

/** Which columns the list shows. */
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
        <DialogActions confirm={t('columns')} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
