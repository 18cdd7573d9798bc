import type { Tables } from './tables.ts';

/**
 * Every column of a table by its name: one that is missing here does not compile. Statements name the columns that they
 * read and write, so that a newer version may add one beside this process: a `*` would write null into it, and break the
 * statements that the server has prepared.
 */
function columnsOf<Name extends keyof Tables>(columns: {
  readonly [Column in keyof Tables[Name] & string]: true;
}): readonly (keyof Tables[Name] & string)[] {
  return Object.keys(columns) as (keyof Tables[Name] & string)[];
}

/** A record of a table's row in JSON: every column is said, though what is undefined is left out and null. */
export type RecordOf<Name extends keyof Tables, Unsaid extends keyof Tables[Name] = never> = {
  readonly [Column in Exclude<keyof Tables[Name], Unsaid>]: unknown;
};

/** Inserts records that a parameter holds as JSON, such as `$1`. */
export function insertRecords(
  table: keyof Tables,
  columns: readonly string[],
  parameter: string,
  record?: string,
): string {
  const names = columns.join(', ');
  return `insert into ${table} (${names}) select ${names} from json_populate_recordset(${record ?? `null::${table}`}, ${parameter}::json)`;
}

/** Whether a column of a payment may change after it was created. */
const PAYMENTS: { readonly [Column in keyof Tables['payments']]: 'fixed' | 'changes' } = {
  id: 'fixed',
  project_id: 'fixed',
  mode: 'fixed',
  surface: 'fixed',
  status: 'changes',
  exception: 'changes',
  failure_reason: 'changes',
  transaction_number: 'fixed',
  amount_minor: 'fixed',
  currency: 'fixed',
  amount_usd_cents: 'fixed',
  merchant_order_id: 'fixed',
  description: 'fixed',
  customer_email: 'fixed',
  customer_name: 'fixed',
  success_url: 'fixed',
  cancel_url: 'fixed',
  metadata: 'fixed',
  asset: 'changes',
  network: 'changes',
  decimals: 'changes',
  owed_units: 'changes',
  tolerance_units: 'changes',
  address: 'changes',
  seen_units: 'changes',
  mined_units: 'changes',
  confirmed_units: 'changes',
  seen_in_time_units: 'changes',
  mined_in_time_units: 'changes',
  confirmed_in_time_units: 'changes',
  deciding_hash: 'changes',
  transaction_hash: 'changes',
  completed_on_units: 'changes',
  created_at: 'fixed',
  expires_at: 'fixed',
  grace_until: 'changes',
  completed_at: 'changes',
  cancelled_at: 'changes',
  completes_at: 'changes',
  due_at: 'changes',
  confirming_sent: 'changes',
  last_sequence: 'changes',
};
export const PAYMENT_COLUMNS = Object.keys(PAYMENTS) as (keyof Tables['payments'])[];
export const CHANGING_PAYMENT_COLUMNS = PAYMENT_COLUMNS.filter((column) => PAYMENTS[column] === 'changes');

export const PAYMENT_ADDRESS_COLUMNS = columnsOf<'payment_addresses'>({
  network: true,
  address: true,
  payment_id: true,
  wallet_id: true,
  address_index: true,
  asset: true,
  decimals: true,
  owed_units: true,
  tolerance_units: true,
  issued_at: true,
  watch_until: true,
  confirmations: true,
  spent_units: true,
});

export const ANSWER_COLUMNS = columnsOf<'idempotency_keys'>({
  project_id: true,
  mode: true,
  route: true,
  key: true,
  body_hash: true,
  response: true,
  created_at: true,
});

export const DAY_COUNT_COLUMNS = columnsOf<'payment_day_counts'>({
  project_id: true,
  mode: true,
  surface: true,
  day: true,
  status: true,
  shard: true,
  payments: true,
  usd_cents: true,
});

export const EVENT_COLUMNS = columnsOf<'events'>({
  id: true,
  project_id: true,
  mode: true,
  payment_id: true,
  type: true,
  body: true,
  created_at: true,
  request_id: true,
});

export const TRANSFER_COLUMNS = columnsOf<'transfers'>({
  network: true,
  transaction_hash: true,
  output_index: true,
  payment_id: true,
  address: true,
  asset: true,
  amount_units: true,
  state: true,
  first_seen_at: true,
  block_height: true,
  block_hash: true,
  block_at: true,
  block_position: true,
});

export const LOST_TRANSFER_COLUMNS = columnsOf<'lost_transfers'>({
  network: true,
  transaction_hash: true,
  asset: true,
  output_index: true,
  address: true,
  first_address: true,
  address_index: true,
  amount_units: true,
  found_at: true,
  block_height: true,
  block_hash: true,
  block_at: true,
  block_position: true,
  payment_id: true,
});

export const PROJECT_COLUMNS = columnsOf<'projects'>({
  id: true,
  name: true,
  active: true,
  allow_ips: true,
  spread_basis_points: true,
  sweep_min_usd_cents: true,
  allow_origins: true,
  accent: true,
  support_url: true,
  created_at: true,
});

export const REFUND_COLUMNS = columnsOf<'refunds'>({
  id: true,
  project_id: true,
  mode: true,
  payment_id: true,
  payment_surface: true,
  status: true,
  amount_minor: true,
  currency: true,
  asset: true,
  network: true,
  decimals: true,
  units: true,
  address: true,
  reason: true,
  failure_reason: true,
  transaction_hash: true,
  created_at: true,
  completed_at: true,
  due_at: true,
  watched_address: true,
});

export const WALLET_COLUMNS = columnsOf<'wallets'>({
  id: true,
  project_id: true,
  network: true,
  kind: true,
  source: true,
  first_address: true,
  confirmations: true,
  tolerance_basis_points: true,
  created_at: true,
  replaced_at: true,
});

export const ENDPOINT_COLUMNS = columnsOf<'webhook_endpoints'>({
  id: true,
  project_id: true,
  mode: true,
  url: true,
  events: true,
  secret: true,
  previous_secret: true,
  previous_secret_until: true,
  disabled_at: true,
  disabled_reason: true,
  deleted_at: true,
  created_at: true,
});

export const ATTEMPT_COLUMNS = columnsOf<'delivery_attempts'>({
  id: true,
  delivery_id: true,
  manual: true,
  started_at: true,
  duration_ms: true,
  request_headers: true,
  response_status: true,
  response_headers: true,
  response_body: true,
  response_truncated: true,
  error_stage: true,
  error: true,
});

export const CURSOR_COLUMNS = columnsOf<'chain_cursors'>({
  network: true,
  height: true,
  hash: true,
  block_at: true,
  updated_at: true,
  looked_at: true,
  at_head_at: true,
  problem: true,
});

export const BLOCK_COLUMNS = columnsOf<'chain_blocks'>({
  network: true,
  height: true,
  hash: true,
  block_at: true,
});

export const NODE_COLUMNS = columnsOf<'chain_nodes'>({
  network: true,
  node: true,
  height: true,
  problem: true,
  checked_at: true,
});
