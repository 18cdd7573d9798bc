import { sql, type RawBuilder } from 'kysely';
import { bigint, bytes, nullable, text, timestamp, uuid, type ColumnShape, type TypesOf } from './schema/column.ts';
import * as annotations from './schema/annotations.ts';
import * as chains from './schema/chains.ts';
import * as figures from './schema/figures.ts';
import * as mails from './schema/mails.ts';
import * as payments from './schema/payments.ts';
import * as paymentRequests from './schema/payment-requests.ts';
import * as people from './schema/people.ts';
import * as projects from './schema/projects.ts';
import * as refunds from './schema/refunds.ts';
import * as requests from './schema/requests.ts';
import * as sweeps from './schema/sweeps.ts';
import * as till from './schema/till.ts';
import * as wallets from './schema/wallets.ts';
import * as webhooks from './schema/webhooks.ts';

/** Every table and column as this program knows them. `migrations/` creates them; a test compares the two. */
export const TABLES = {
  projects: projects.PROJECTS,
  project_logos: projects.PROJECT_LOGOS,
  project_icons: projects.PROJECT_ICONS,
  logo_drafts: projects.LOGO_DRAFTS,
  api_keys: projects.API_KEYS,
  api_key_clients: projects.API_KEY_CLIENTS,
  payments: payments.PAYMENTS.columns,
  transaction_counters: payments.TRANSACTION_COUNTERS,
  payment_day_counts: payments.PAYMENT_DAY_COUNTS.columns,
  payment_arrows: payments.PAYMENT_TRANSITIONS.columns,
  payment_addresses: payments.PAYMENT_ADDRESSES.columns,
  payment_quotes: payments.PAYMENT_QUOTES,
  advanced_payments: payments.ADVANCED_PAYMENTS,
  payment_requests: paymentRequests.PAYMENT_REQUESTS,
  invoice_settings: paymentRequests.INVOICE_SETTINGS,
  invoice_counters: paymentRequests.INVOICE_COUNTERS,
  invoice_documents: paymentRequests.INVOICE_DOCUMENTS,
  invoice_pdfs: paymentRequests.INVOICE_PDFS,
  till_sales: till.TILL_SALES,
  idempotency_keys: payments.IDEMPOTENCY_KEYS.columns,
  payment_figures: figures.PAYMENT_FIGURES,
  completion_times: figures.COMPLETION_TIMES,
  figures_progress: figures.FIGURES_PROGRESS,
  currency_rates: figures.CURRENCY_RATES,
  attention_marks: figures.ATTENTION_MARKS,
  attention_occurrences: mails.ATTENTION_OCCURRENCES,
  transfers: chains.TRANSFERS.columns,
  lost_transfers: chains.LOST_TRANSFERS.columns,
  coin_outflows: chains.COIN_OUTFLOWS,
  chain_cursors: chains.CHAIN_CURSORS,
  chain_blocks: chains.CHAIN_BLOCKS,
  chain_nodes: chains.CHAIN_NODES,
  raw_transactions: chains.RAW_TRANSACTIONS,
  events: webhooks.EVENTS.columns,
  event_positions: webhooks.EVENT_POSITIONS,
  event_heads: webhooks.EVENT_HEADS,
  unnumbered_events: webhooks.UNNUMBERED_EVENTS,
  event_numbering: webhooks.EVENT_NUMBERING,
  webhook_endpoints: webhooks.WEBHOOK_ENDPOINTS,
  deliveries: webhooks.DELIVERIES,
  message_queue: webhooks.MESSAGE_QUEUE,
  delivery_attempts: webhooks.DELIVERY_ATTEMPTS,
  delivery_retries: webhooks.DELIVERY_RETRIES,
  retried_deliveries: webhooks.RETRIED_DELIVERIES,
  api_requests: requests.API_REQUESTS,
  api_request_counts: requests.API_REQUEST_COUNTS,
  payment_notes: annotations.PAYMENT_NOTES,
  labels: annotations.LABELS,
  payment_labels: annotations.PAYMENT_LABELS,
  refunds: refunds.REFUNDS.columns,
  refund_payouts: refunds.REFUND_PAYOUTS,
  waiting_payouts: refunds.WAITING_PAYOUTS,
  refund_balances: refunds.REFUND_BALANCES.columns,
  refund_changes: refunds.REFUND_CHANGES,
  refund_inputs: refunds.REFUND_INPUTS,
  sent_payouts: refunds.SENT_PAYOUTS,
  uncompared_refunds: refunds.UNCOMPARED_REFUNDS,
  change_addresses: refunds.CHANGE_ADDRESSES,
  change_watches: refunds.CHANGE_WATCHES,
  change_outputs: refunds.CHANGE_OUTPUTS,
  wallets: wallets.WALLETS,
  wallet_changes: wallets.WALLET_CHANGES,
  address_indexes: wallets.ADDRESS_INDEXES,
  skipped_indexes: wallets.SKIPPED_INDEXES,
  unissued_addresses: wallets.UNISSUED_ADDRESSES,
  deposit_balances: sweeps.DEPOSIT_BALANCES.columns,
  deposit_checks: sweeps.DEPOSIT_CHECKS,
  sweeps: sweeps.SWEEPS,
  sweep_transfers: sweeps.SWEEP_TRANSFERS.columns,
  people: people.PEOPLE,
  memberships: people.MEMBERSHIPS,
  required_factors: people.REQUIRED_FACTORS,
  account_links: people.ACCOUNT_LINKS,
  sessions: people.SESSIONS,
  sign_ins: people.SIGN_INS,
  known_browsers: people.KNOWN_BROWSERS,
  passkeys: people.PASSKEYS,
  recovery_codes: people.RECOVERY_CODES,
  audit_log: people.AUDIT_LOG,
  saved_views: people.SAVED_VIEWS,
  mails: mails.MAILS,
  mail_unsubscribes: mails.MAIL_UNSUBSCRIBES,
  notification_choices: mails.NOTIFICATION_CHOICES,
  project_notifications: mails.PROJECT_NOTIFICATIONS,
  mail_progress: mails.MAIL_PROGRESS,
  project_customer_mails: mails.PROJECT_CUSTOMER_MAILS,
  payment_languages: mails.PAYMENT_LANGUAGES,
  customer_refusals: mails.CUSTOMER_REFUSALS,
  customer_refusal_links: mails.CUSTOMER_REFUSAL_LINKS,
  backups: {
    started_at: timestamp(),
    finished_at: timestamp(),
    /** Null: the backup was streamed. For a failed scheduled backup, the folder that it was meant for. */
    file: nullable(text()),
    bytes: nullable(bigint()),
    /** Why it failed; null if it is good. */
    problem: nullable(text()),
  },
  leases: { name: text(), holder: text(), until: timestamp() },
  moves: {
    id: uuid(),
    stage: text<'moving' | 'moved' | 'arrived'>(),
    place: text(),
    unfinished: nullable(text()),
    at: timestamp(),
  },
  key_checks: { name: text(), sealed: bytes() },
} satisfies Readonly<Record<string, Readonly<Record<string, ColumnShape>>>>;

type KyselyOf<Of> = TypesOf<Of> extends { readonly kysely: infer Kysely } ? Kysely : never;

/** The database's tables for Kysely. */
export type Tables = {
  -readonly [Table in keyof typeof TABLES]: {
    -readonly [Name in keyof (typeof TABLES)[Table]]: KyselyOf<(typeof TABLES)[Table][Name]>;
  };
};

/**
 * The columns of a table, for the inner parts of statements written as text: `*` would break once a newer version adds
 * a column.
 */
export function allColumns(table: keyof Tables): RawBuilder<unknown> {
  return sql.join(Object.keys(TABLES[table]).map((column) => sql.ref(`${table}.${column}`)));
}
