import type { Tables } from '../tables.ts';

/**
 * The rows that a backup copies of each table; a table missing here does not compile. `rows`: all of them. `nothing`:
 * data that is only valid while the current processes run, that follows from the rest, or that lets somebody in: a
 * restored copy has no session and no open link.
 */
export const COPIED_TABLES: { readonly [Name in keyof Tables]: 'rows' | 'nothing' } = {
  projects: 'rows',
  project_logos: 'rows',
  // Drafts are used for an hour.
  logo_drafts: 'nothing',
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
  payment_figures: 'nothing',
  completion_times: 'nothing',
  figures_progress: 'nothing',
  currency_rates: 'rows',
  attention_marks: 'rows',
  // Nobody is mailed about the same item again after a restore.
  attention_occurrences: 'rows',
  payment_arrows: 'rows',
  payment_addresses: 'rows',
  payment_quotes: 'rows',
  transfers: 'rows',
  events: 'rows',
  deliveries: 'rows',
  delivery_attempts: 'rows',
  // Progress of retries; their deliveries remain due.
  delivery_retries: 'nothing',
  retried_deliveries: 'nothing',
  // For finding recent faults; the audit log and the payments have the lasting facts.
  api_requests: 'nothing',
  api_request_counts: 'nothing',
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
  chain_nodes: 'nothing',
  // The nodes can tell the checks again; reports use balances and sweeps.
  deposit_balances: 'rows',
  deposit_checks: 'nothing',
  sweeps: 'rows',
  sweep_transfers: 'rows',
  people: 'rows',
  memberships: 'rows',
  required_factors: 'rows',
  account_links: 'nothing',
  sessions: 'nothing',
  sign_ins: 'nothing',
  known_browsers: 'nothing',
  passkeys: 'rows',
  recovery_codes: 'rows',
  audit_log: 'rows',
  saved_views: 'rows',
  // The original service sends them itself.
  mails: 'nothing',
  mail_unsubscribes: 'nothing',
  notification_choices: 'rows',
  project_notifications: 'rows',
  // A restored copy begins with what happens to it.
  mail_progress: 'nothing',
  project_customer_mails: 'rows',
  payment_languages: 'rows',
  customer_refusals: 'rows',
  customer_refusal_links: 'rows',
  backups: 'rows',
  leases: 'nothing',
  // A restore brings the key itself, or asks for it.
  key_checks: 'nothing',
};

/** The table of applied migrations; a backup has them in its manifest. */
export const MIGRATIONS_TABLE = 'migrations';
