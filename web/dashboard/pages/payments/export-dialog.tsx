import { useState } from 'react';
import type { ExportColumn } from '../../../../src/domain/export-column.ts';
import type { ExportRequest } from '../../../../src/http/dashboard/payment-list/contract.ts';
import { urlOf } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOfForm } from '../../problem.ts';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Form, SelectField } from '../../ui/form.tsx';
import { sizeText, useDownload, type ExportProgress } from '../../download.ts';
import css from './list-dialogs.module.css';
import { filtersOf, isNarrowed, type PaymentsSearch } from './search.ts';
import { toggled } from './columns.ts';
import type { TextKey } from '../../texts/parts.ts';
import { useScope } from '../../scope.ts';

/** Every column of an export with its name. Complete by type. */
const EXPORT_COLUMNS = {
  id: 'id',
  number: 'number',
  order_id: 'column_order_id',
  created: 'created',
  status: 'status',
  exception: 'column_exception',
  description: 'description',
  email: 'column_email',
  amount: 'amount',
  currency: 'column_currency',
  coin: 'coin',
  network: 'network',
  coin_amount: 'column_coin_amount',
  received: 'column_received',
  completed: 'column_completed',
  api: 'column_api',
  amount_usd: 'column_amount_usd',
  confirmed: 'column_confirmed',
  refunded: 'column_refunded',
  failure_reason: 'column_failure_reason',
  address: 'address',
  transaction_hash: 'column_transaction_hash',
  customer_name: 'customer_name',
  labels: 'column_labels',
  notes: 'column_notes',
  metadata: 'column_metadata',
  expires: 'expires',
  cancelled: 'column_cancelled',
  receipt_value: 'column_receipt_value',
  receipt_usd: 'column_receipt_usd',
} as const satisfies Readonly<Record<ExportColumn, TextKey<'list'>>>;

function isExportColumn(name: string): name is ExportColumn {
  return Object.hasOwn(EXPORT_COLUMNS, name);
}

const ALL_EXPORT_COLUMNS: readonly ExportColumn[] = Object.keys(EXPORT_COLUMNS).filter(isExportColumn);

/** The default columns: those up to the time of completion. */
const USUAL_EXPORT_COLUMNS = ALL_EXPORT_COLUMNS.slice(0, ALL_EXPORT_COLUMNS.indexOf('completed') + 1);

interface ExportDialogProps {
  readonly search: PaymentsSearch;
  /** The ids of the chosen payments; null: all that the filters show. */
  readonly chosen: readonly string[] | null;
  readonly onClose: () => void;
}

interface Wanted {
  readonly format: 'csv' | 'jsonl';
  readonly separator: 'comma' | 'semicolon';
  readonly isFiltered: boolean;
  readonly zone: string;
  readonly columns: ReadonlySet<ExportColumn>;
}

/** Downloads the payments that the list shows, all of them, or those that were chosen. */
export function ExportDialog({ search, chosen, onClose }: ExportDialogProps) {
  const { t, zone, number } = useLocale('list');
  const [wanted, want] = useState<Wanted>({
    format: 'csv',
    separator: 'comma',
    isFiltered: isNarrowed(search),
    zone,
    columns: new Set(USUAL_EXPORT_COLUMNS),
  });
  const set = (change: Partial<Wanted>): void => want((before) => ({ ...before, ...change }));
  const { toast } = useDashboard();
  const url = urlOf('/dashboard/api/projects/:project/:mode/payments/export', { params: { ...useScope() } });
  const { start, stop, progress, fault } = useDownload(url, ({ rows }) => {
    toast(t('export_done', { rows: number(rows) }));
    onClose();
  });
  const hasColumns = wanted.columns.size > 0;
  return (
    <Dialog title={t('export')} description={t('export_text')} wide onClose={onClose}>
      {progress === null ? (
        <Form onSubmit={() => (hasColumns ? start(requestOf(wanted, search, chosen)) : undefined)}>
          <Choices
            label={t('export_format')}
            options={[
              { value: 'csv', text: t('export_csv'), detail: t('export_csv_text') },
              { value: 'jsonl', text: t('export_jsonl'), detail: t('export_jsonl_text') },
            ]}
            value={wanted.format}
            onValue={(format) => set({ format })}
          />
          {chosen !== null ? (
            <p>{t('export_chosen', { count: chosen.length })}</p>
          ) : isNarrowed(search) ? (
            <Choices
              label={t('export_what')}
              options={[
                { value: 'filtered', text: t('export_filtered') },
                { value: 'all', text: t('export_everything') },
              ]}
              value={wanted.isFiltered ? 'filtered' : 'all'}
              onValue={(what) => set({ isFiltered: what === 'filtered' })}
            />
          ) : null}
          {wanted.format === 'csv' ? <CsvFields wanted={wanted} set={set} /> : null}
          <Columns wanted={wanted.columns} onWanted={(columns) => set({ columns })} />
          <DialogActions
            confirm={t('download')}
            problem={hasColumns ? problemOfForm(fault, [], t) : t('export_no_columns')}
            onCancel={onClose}
          />
        </Form>
      ) : (
        <Progress progress={progress} onStop={stop} />
      )}
    </Dialog>
  );
}

function requestOf(
  { format, separator, isFiltered, zone, columns }: Wanted,
  search: PaymentsSearch,
  chosen: readonly string[] | null,
): ExportRequest {
  return {
    ...(chosen !== null ? { payments: [...chosen] } : isFiltered ? filtersOf(search) : {}),
    format,
    columns: [...columns],
    ...(format === 'csv' && { separator, zone }),
  };
}

interface CsvFieldsProps {
  readonly wanted: Wanted;
  readonly set: (change: Partial<Wanted>) => void;
}

function CsvFields({ wanted, set }: CsvFieldsProps) {
  const { t, zone } = useLocale('list');
  const zones = [...new Set([zone, 'UTC'])];
  return (
    <div className={css.pairs}>
      <SelectField
        label={t('export_zone')}
        value={wanted.zone}
        options={zones.map((one) => [one, one.replaceAll('_', ' ')])}
        onValue={(value) => set({ zone: value })}
      />
      <SelectField
        label={t('export_separator')}
        value={wanted.separator}
        options={[
          ['comma', t('export_separator_comma')],
          ['semicolon', t('export_separator_semicolon')],
        ]}
        onValue={(value) => set({ separator: value === 'semicolon' ? 'semicolon' : 'comma' })}
      />
    </div>
  );
}

interface ColumnsProps {
  readonly wanted: ReadonlySet<ExportColumn>;
  readonly onWanted: (columns: ReadonlySet<ExportColumn>) => void;
}

function Columns({ wanted, onWanted }: ColumnsProps) {
  const { t } = useLocale('list');
  return (
    <details className={css.columns}>
      <summary>{t('export_columns')}</summary>
      <fieldset className={css.checks}>
        <legend className="unseen">{t('export_columns')}</legend>
        {ALL_EXPORT_COLUMNS.map((column) => (
          <label key={column}>
            <input type="checkbox" checked={wanted.has(column)} onChange={() => onWanted(toggled(wanted, column))} />
            <span>{t(EXPORT_COLUMNS[column])}</span>
          </label>
        ))}
      </fieldset>
    </details>
  );
}

function Progress({ progress, onStop }: { readonly progress: ExportProgress; readonly onStop: () => void }) {
  const { t, number } = useLocale('list');
  const { bytes, total } = progress;
  const size = sizeText(bytes, number);
  const rows = number(progress.rows);
  const text =
    total === null
      ? t('export_progress', { rows, size })
      : t('export_progress_of', { rows, total: number(total), size });
  return (
    <div className={css.progress}>
      <progress
        aria-label={t('export')}
        {...(total !== null && total > 0 && { max: total, value: Math.min(progress.rows, total) })}
      />
      <p>{text}</p>
      <Button onClick={onStop}>{t('cancel_export')}</Button>
    </div>
  );
}
