import type { Tables } from '../tables.ts';

/** The reason for a copy: a backup is a second database one day; after a move, the new database is the only one. */
export type Purpose = 'backup' | 'move';

/**
 * The copies that take the rows of each table; a table missing here does not compile. `rows`: all copies. `move`: a
 * move alone, because the rows follow from the rest, are of use for a short time, or let somebody in: a restored copy
 * has no open link, and the original sends its mails. `nothing`: no copy, because the rows are only valid while the
 * current processes run, or are sessions.
 */
export const COPIED_TABLES: { readonly [Name in keyof Tables]: 'rows' | 'move' | 'nothing' } = {
  projects: 'rows',
  project_logos: 'rows',
  project_icons: 'rows',
  // Drafts are used for an hour.
  logo_drafts: 'move',
  api_keys: 'rows',
  api_key_clients: 'rows',
  wallets: 'rows',
  wallet_changes: 'rows',
  address_indexes: 'rows',
  skipped_indexes: 'rows',
  unissued_addresses: 'rows',
  lost_transfers: 'rows',
  webhook_endpoints: 'rows',
  transaction_counters: 'rows',
  payment_day_counts: 'rows',
  payments: 'rows',
  // Derived from the payments.
  payment_figures: 'move',
  completion_times: 'move',
  figures_progress: 'move',
  currency_rates: 'rows',
  attention_marks: 'rows',
  // Nobody is mailed about the same item again after a restore.
  attention_occurrences: 'rows',
  payment_arrows: 'rows',
  payment_addresses: 'rows',
  payment_quotes: 'rows',
  advanced_payments: 'rows',
  payment_requests: 'rows',
  invoice_settings: 'rows',
  invoice_counters: 'rows',
  invoice_documents: 'rows',
  invoice_pdfs: 'rows',
  till_sales: 'rows',
  transfers: 'rows',
  events: 'rows',
  event_positions: 'rows',
  event_heads: 'rows',
  unnumbered_events: 'rows',
  event_numbering: 'rows',
  deliveries: 'rows',
  message_queue: 'rows',
  delivery_attempts: 'rows',
  // Progress of retries; their deliveries remain due.
  delivery_retries: 'move',
  retried_deliveries: 'move',
  // For finding recent faults; the audit log and the payments have the lasting facts.
  api_requests: 'move',
  api_request_counts: 'move',
  idempotency_keys: 'rows',
  payment_notes: 'rows',
  labels: 'rows',
  payment_labels: 'rows',
  refunds: 'rows',
  refund_payouts: 'rows',
  waiting_payouts: 'rows',
  refund_balances: 'rows',
  refund_changes: 'rows',
  refund_inputs: 'rows',
  sent_payouts: 'rows',
  uncompared_refunds: 'rows',
  change_addresses: 'rows',
  change_watches: 'rows',
  change_outputs: 'rows',
  raw_transactions: 'rows',
  coin_outflows: 'rows',
  chain_cursors: 'rows',
  chain_blocks: 'rows',
  chain_nodes: 'move',
  // The nodes can tell the checks again; reports use balances and sweeps.
  deposit_balances: 'rows',
  deposit_checks: 'move',
  sweeps: 'rows',
  sweep_transfers: 'rows',
  people: 'rows',
  memberships: 'rows',
  required_factors: 'rows',
  account_links: 'move',
  sessions: 'nothing',
  sign_ins: 'nothing',
  known_browsers: 'move',
  passkeys: 'rows',
  recovery_codes: 'rows',
  audit_log: 'rows',
  saved_views: 'rows',
  // The original service sends them itself.
  mails: 'move',
  mail_unsubscribes: 'move',
  notification_choices: 'rows',
  project_notifications: 'rows',
  // A restored copy begins with what happens to it.
  mail_progress: 'move',
  project_customer_mails: 'rows',
  payment_languages: 'rows',
  customer_refusals: 'rows',
  customer_refusal_links: 'rows',
  backups: 'rows',
  leases: 'nothing',
  // Each database has its own.
  moves: 'nothing',
  // A restore brings the key itself, or asks for it.
  key_checks: 'move',
};

/** Whether a copy takes the rows of a table. */
export function isCopied(table: string, purpose: Purpose): boolean {
  const what = Object.entries(COPIED_TABLES).find(([name]) => name === table)?.[1];
  return what === 'rows' || (what === 'move' && purpose === 'move');
}

/** The table of applied migrations; a backup has them in its manifest. */
export const MIGRATIONS_TABLE = 'migrations';
