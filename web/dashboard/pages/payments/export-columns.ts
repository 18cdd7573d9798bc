import type { ExportColumn } from '../../../../src/http/dashboard/contract/export.ts';
import type { TextKey } from '../../texts/parts.ts';

/** Every column of an export with its name. Complete by type. */
export const EXPORT_COLUMNS = {
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

export const ALL_EXPORT_COLUMNS: readonly ExportColumn[] = Object.keys(EXPORT_COLUMNS).filter(isExportColumn);

/** What a file has unless other columns are chosen: those up to the time of completion. */
export const USUAL_EXPORT_COLUMNS = ALL_EXPORT_COLUMNS.slice(0, ALL_EXPORT_COLUMNS.indexOf('completed') + 1);
