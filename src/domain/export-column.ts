/** The columns that a payment export may have, in their order in the file. */
export const EXPORT_COLUMNS = [
  'id',
  'number',
  'order_id',
  'created',
  'status',
  'exception',
  'description',
  'email',
  'amount',
  'currency',
  'coin',
  'network',
  'coin_amount',
  'received',
  'completed',
  'api',
  'amount_usd',
  'confirmed',
  'refunded',
  'failure_reason',
  'address',
  'transaction_hash',
  'customer_name',
  'labels',
  'notes',
  'metadata',
  'expires',
  'cancelled',
  'receipt_value',
  'receipt_usd',
] as const;
export type ExportColumn = (typeof EXPORT_COLUMNS)[number];

/** The default columns. */
export const USUAL_COLUMNS: readonly ExportColumn[] = EXPORT_COLUMNS.slice(0, EXPORT_COLUMNS.indexOf('completed') + 1);
