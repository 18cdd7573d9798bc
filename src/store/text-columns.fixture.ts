import type { Tables } from './tables.ts';

/**
 * The relation of a text column to customers. `customer`: text from customers, or about them; the deletion of
 * customers' data clears it. `accounting`: data that books need, such as addresses, hashes and the shop's own order
 * numbers. `shop`: text of the shop and its people about themselves. `service`: words of this program.
 */
export type TextKind = 'customer' | 'accounting' | 'shop' | 'service';

const of = <Kind extends TextKind, Name extends string>(kind: Kind, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, kind])) as Readonly<Record<Name, Kind>>;

/**
 * Each column of texts, lists of texts and JSON, by table. A new one fails a test until it stands here; what is said to
 * be a customer's must then be cleared by `store/payments/customer-data.ts`, which another test checks.
 */
export const TEXT_COLUMNS: { readonly [Table in keyof Tables]?: Readonly<Record<string, TextKind>> } = {
  projects: of(
    'shop',
    'name',
    'allow_ips',
    'allow_origins',
    'accent',
    'support_url',
    'default_currency',
    'default_success_url',
    'datev',
    'till',
    'page_text',
    'terms_url',
    'imprint_url',
    'coin_order',
    'coins_off',
  ),
  project_logos: of('service', 'hash', 'type'),
  project_icons: of('service', 'hash', 'type'),
  logo_drafts: of('service', 'hash', 'type'),
  api_keys: { ...of('service', 'mode', 'kind', 'permission', 'scopes'), ...of('shop', 'name') },
  // The clients of secret keys are the shop's servers, those of public keys the shop's pages.
  api_key_clients: of('shop', 'client', 'user_agent'),
  payments: {
    ...of('service', 'mode', 'surface', 'status', 'exception', 'failure_reason', 'transaction_number', 'currency'),
    ...of(
      'accounting',
      'merchant_order_id',
      'transaction_hash',
      'asset',
      'network',
      'address',
      'deciding_hash',
      'coins',
    ),
    ...of('customer', 'description', 'customer_email', 'customer_name', 'success_url', 'cancel_url', 'metadata'),
    ...of('customer', 'shop_metadata', 'shop_checkout'),
  },
  // The shop's own words; the texts of payers are with their invoices.
  payment_requests: {
    ...of('service', 'mode', 'status', 'currency'),
    ...of('accounting', 'reference', 'coins'),
    ...of('shop', 'title', 'description', 'success_url', 'metadata'),
  },
  invoice_settings: of('shop', 'prefix', 'seller_lines', 'seller_tax_id'),
  invoice_counters: of('service', 'mode'),
  // Tax law has invoices kept as they were issued; only the address for mails is cleared.
  invoice_documents: {
    ...of('service', 'mode', 'language'),
    ...of('accounting', 'number', 'content'),
    ...of('customer', 'email'),
  },
  invoice_pdfs: of('service', 'kind'),
  till_sales: of('service', 'mode'),
  transaction_counters: of('service', 'mode'),
  payment_day_counts: of('service', 'mode', 'surface', 'status'),
  payment_arrows: of('service', 'from_status', 'to_status', 'cause'),
  payment_addresses: { ...of('service', 'after_block'), ...of('accounting', 'address', 'network', 'asset') },
  payment_quotes: of('accounting', 'network', 'address', 'asset'),
  // Shops make their keys of what they like, such as the customer's address.
  idempotency_keys: { ...of('service', 'mode', 'route'), ...of('customer', 'key', 'response') },
  payment_figures: of('accounting', 'mode', 'status', 'network', 'asset', 'currency'),
  currency_rates: of('accounting', 'mode', 'prices'),
  completion_times: of('accounting', 'mode', 'network', 'asset'),
  attention_marks: { ...of('service', 'mode', 'kind', 'subject', 'occurrence'), ...of('customer', 'note') },
  // Payments by the shop's own numbers, and endpoints.
  attention_occurrences: of('accounting', 'mode', 'kind', 'subject', 'occurrence', 'name', 'amount', 'detail'),
  transfers: of('accounting', 'network', 'transaction_hash', 'address', 'asset', 'state', 'block_hash', 'doubt'),
  lost_transfers: of('accounting', 'network', 'transaction_hash', 'asset', 'address', 'first_address', 'block_hash'),
  coin_outflows: { ...of('service', 'network', 'state'), ...of('accounting', 'address') },
  chain_cursors: of('service', 'network', 'hash', 'problem'),
  chain_blocks: of('service', 'network', 'hash'),
  chain_nodes: of('service', 'network', 'node', 'problem'),
  raw_transactions: of('accounting', 'network', 'transaction_hash'),
  // Shops make the ids of their requests of what they like.
  events: { ...of('service', 'mode', 'type'), ...of('customer', 'body', 'request_id') },
  event_positions: of('service', 'mode', 'gap_reason'),
  event_heads: of('service', 'mode'),
  webhook_endpoints: of('shop', 'mode', 'url', 'events', 'disabled_reason', 'format'),
  deliveries: of('service', 'state'),
  delivery_attempts: {
    ...of('service', 'request_headers', 'error_stage', 'error'),
    // A shop's server may answer with what it was sent.
    ...of('customer', 'response_headers', 'response_body'),
  },
  delivery_retries: of('service', 'mode'),
  retried_deliveries: of('service', 'state'),
  api_requests: {
    ...of('service', 'mode', 'method', 'error_type', 'error_param'),
    // Only calls with secret keys have these, which shops' servers use.
    ...of('shop', 'ip', 'user_agent'),
    // Some refusals quote what was sent, and older versions kept paths with an address in place of an id.
    ...of('customer', 'path', 'error', 'request_ids'),
  },
  api_request_counts: of('service', 'mode'),
  payment_notes: { ...of('shop', 'author_name'), ...of('customer', 'body') },
  // Labels that contain a customer's address.
  labels: of('customer', 'name'),
  payment_labels: of('service', 'mode'),
  refunds: {
    ...of('service', 'mode', 'payment_surface', 'status', 'failure_reason'),
    ...of('accounting', 'currency', 'asset', 'network', 'address', 'transaction_hash', 'watched_address'),
    ...of('customer', 'reason'),
  },
  refund_payouts: of('accounting', 'network', 'transaction_hash', 'asset', 'spends'),
  sent_payouts: of('accounting', 'network', 'transaction_hash', 'refused_reason'),
  uncompared_refunds: of('accounting', 'network'),
  waiting_payouts: of('accounting', 'network', 'transaction_hash', 'asset', 'spends'),
  refund_changes: of('accounting', 'network', 'address'),
  refund_inputs: of('accounting', 'network', 'transaction_hash'),
  change_addresses: of('accounting', 'network', 'address', 'first_change_address'),
  change_watches: of('accounting', 'kind', 'source', 'network', 'first_change_address'),
  change_outputs: of('accounting', 'network', 'transaction_hash', 'address', 'block_hash'),
  wallets: of('shop', 'network', 'kind', 'source', 'first_address'),
  wallet_changes: of('shop', 'network', 'actor_kind', 'actor_name', 'before', 'after'),
  deposit_balances: of('accounting', 'network', 'address', 'token', 'treasury', 'asset', 'priced_by'),
  deposit_checks: of('service', 'network', 'factories', 'problem'),
  sweeps: {
    ...of('service', 'purpose', 'state', 'problem'),
    ...of(
      'accounting',
      'network',
      'source',
      'treasury',
      'sender',
      'call_to',
      'call_data',
      'transaction_hash',
      'block_hash',
    ),
  },
  sweep_transfers: of('accounting', 'network', 'deposit_address', 'token', 'asset', 'state', 'transaction_hash'),
  address_indexes: of('service', 'network', 'first_address', 'halted_reason'),
  skipped_indexes: of('service', 'network', 'first_address'),
  unissued_addresses: of('accounting', 'network', 'address', 'first_address'),
  // To the shop's people; emptied when sent.
  moves: of('service', 'place', 'stage', 'unfinished'),
  mails: of('shop', 'kind', 'occasion', 'content', 'outcome', 'problem'),
  mail_unsubscribes: of('shop', 'notification'),
  notification_choices: of('shop', 'attention', 'zone', 'language', 'daily_made', 'weekly_made'),
  project_customer_mails: of('shop', 'from_address', 'reply_to', 'language'),
  payment_languages: of('service', 'language'),
  project_notifications: of('shop', 'payments', 'daily_made', 'monthly_made'),
  key_checks: of('service', 'name'),
  people: of('shop', 'email', 'name', 'password_hash', 'pending_email'),
  memberships: of('shop', 'role'),
  required_factors: of('shop', 'role'),
  account_links: of('service', 'purpose'),
  sessions: of('shop', 'ip', 'user_agent', 'challenge', 'challenge_for'),
  sign_ins: of('service', 'challenge'),
  passkeys: of('shop', 'name', 'credential_id', 'transports'),
  // Append-only but for the texts of customers that older versions wrote into the values.
  audit_log: {
    ...of('shop', 'actor_kind', 'actor_name', 'action', 'subject_kind', 'subject_id', 'ip', 'request_id'),
    ...of('customer', 'before', 'after'),
  },
  // A search for a customer is part of a view, or its name.
  saved_views: of('customer', 'name', 'query'),
  backups: of('service', 'file', 'problem'),
  leases: of('service', 'name', 'holder'),
};
