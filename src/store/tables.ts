import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { AssetCode, Network } from '../domain/asset.ts';
import type { EventType } from '../domain/event-type.ts';
import type { Fiat } from '../domain/money.ts';
import type { Exception, FailureReason, Surface, Transfer } from '../domain/payment.ts';
import type { PaymentStatus } from '../domain/status.ts';
import type { KeyKind, Mode, Permission } from '../domain/permission.ts';
import type { RefundFailure, RefundStatus } from '../domain/refund.ts';

/** Read as epoch milliseconds, written as a Date. */
export type Timestamp = ColumnType<number, Date, Date>;
export type NullableTimestamp = ColumnType<number | null, Date | null | undefined, Date | null>;
/** `bigint` and `numeric(78, 0)` columns: exact in both directions. */
type Integer = ColumnType<bigint, bigint | string, bigint | string>;
type NullableInteger = ColumnType<bigint | null, bigint | string | null | undefined, bigint | string | null>;

export interface ProjectsTable {
  id: string;
  name: string;
  active: Generated<boolean>;
  allow_ips: Generated<string[]>;
  spread_basis_points: Generated<number>;
  sweep_min_usd_cents: ColumnType<bigint, string | undefined, string>;
  allow_origins: Generated<string[]>;
  accent: string | null;
  support_url: string | null;
  created_at: Timestamp;
}

/** The pictures that a logo may be: raster only, because an SVG can carry a script. */
export type LogoType = 'image/png' | 'image/jpeg' | 'image/webp';

export interface ProjectLogosTable {
  project_id: string;
  /** SHA-256 of the bytes in lower-case hex. */
  hash: string;
  type: LogoType;
  width: number;
  height: number;
  bytes: Buffer;
}

export interface ApiKeysTable {
  id: string;
  project_id: string;
  mode: Mode;
  kind: KeyKind;
  permission: Permission;
  name: string;
  hash: Buffer;
  created_at: Timestamp;
  revoked_at: NullableTimestamp;
}

export interface PaymentsTable {
  id: string;
  project_id: string;
  mode: Mode;
  surface: Surface;
  status: PaymentStatus;
  exception: Exception;
  failure_reason: FailureReason | null;
  transaction_number: string | null;
  amount_minor: Integer;
  currency: Fiat;
  amount_usd_cents: Integer;
  merchant_order_id: string | null;
  description: string | null;
  customer_email: string | null;
  customer_name: string | null;
  success_url: string | null;
  cancel_url: string | null;
  metadata: JSONColumnType<Record<string, string> | null>;
  asset: AssetCode | null;
  network: Network | null;
  decimals: number | null;
  owed_units: NullableInteger;
  tolerance_units: NullableInteger;
  address: string | null;
  seen_units: Integer;
  mined_units: Integer;
  confirmed_units: Integer;
  seen_in_time_units: Integer;
  mined_in_time_units: Integer;
  confirmed_in_time_units: Integer;
  deciding_hash: string | null;
  transaction_hash: string | null;
  completed_on_units: NullableInteger;
  created_at: Timestamp;
  expires_at: Timestamp;
  grace_until: NullableTimestamp;
  completed_at: NullableTimestamp;
  cancelled_at: NullableTimestamp;
  completes_at: NullableTimestamp;
  due_at: NullableTimestamp;
  confirming_sent: boolean;
  last_sequence: number;
}

export interface PaymentAddressesTable {
  network: Network;
  address: string;
  payment_id: string;
  wallet_id: string | null;
  address_index: number | null;
  asset: AssetCode;
  decimals: number;
  owed_units: Integer;
  tolerance_units: Integer;
  issued_at: Timestamp;
  watch_until: Timestamp;
  confirmations: number;
  spent_units: Integer | null;
}

export interface PaymentQuotesTable {
  id: Generated<bigint>;
  payment_id: string;
  network: Network;
  address: string;
  asset: AssetCode;
  decimals: number;
  owed_units: Integer;
  tolerance_units: Integer;
  quoted_at: Timestamp;
}

export interface TransfersTable {
  network: Network;
  transaction_hash: string;
  output_index: number;
  payment_id: string;
  address: string;
  asset: AssetCode;
  amount_units: Integer;
  state: Transfer['state'];
  first_seen_at: Timestamp;
  block_height: number | null;
  block_hash: string | null;
  block_at: NullableTimestamp;
  block_position: number | null;
}

export interface LostTransfersTable {
  network: Network;
  transaction_hash: string;
  asset: AssetCode;
  output_index: number;
  address: string;
  first_address: string;
  address_index: number;
  amount_units: Integer;
  found_at: Timestamp;
  block_height: number | null;
  block_hash: string | null;
  block_at: NullableTimestamp;
  block_position: number | null;
  payment_id: string | null;
}

export interface WebhookEndpointsTable {
  id: string;
  project_id: string;
  mode: Mode;
  url: string;
  events: string[];
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_secret_until: NullableTimestamp;
  disabled_at: NullableTimestamp;
  disabled_reason: string | null;
  deleted_at: NullableTimestamp;
  created_at: Timestamp;
}

export type DeliveryState = 'waiting' | 'delivered' | 'failed' | 'stopped';

export interface DeliveriesTable {
  id: Generated<bigint>;
  event_id: string;
  endpoint_id: string;
  state: DeliveryState;
  attempts: Generated<number>;
  next_attempt_at: NullableTimestamp;
  created_at: Timestamp;
  delivered_at: NullableTimestamp;
}

export interface DeliveryAttemptsTable {
  id: Generated<bigint>;
  delivery_id: Integer;
  manual: boolean;
  started_at: Timestamp;
  duration_ms: number;
  request_headers: JSONColumnType<Record<string, string>>;
  response_status: number | null;
  response_headers: JSONColumnType<Record<string, string> | null>;
  response_body: string | null;
  response_truncated: boolean;
  error_stage: string | null;
  error: string | null;
}

export interface RefundsTable {
  id: string;
  project_id: string;
  mode: Mode;
  payment_id: string;
  payment_surface: Surface;
  status: RefundStatus;
  amount_minor: Integer;
  currency: Fiat;
  asset: AssetCode;
  network: Network;
  decimals: number;
  units: Integer;
  address: string | null;
  reason: string | null;
  failure_reason: RefundFailure | null;
  transaction_hash: string | null;
  created_at: Timestamp;
  completed_at: NullableTimestamp;
  due_at: NullableTimestamp;
  watched_address: string | null;
}

/** What a wallet's addresses come from: an extended public key, an output descriptor, or deposit contracts of a treasury. */
export type WalletKind = 'xpub' | 'descriptor' | 'treasury';

export interface WalletsTable {
  id: string;
  project_id: string;
  network: Network;
  kind: WalletKind;
  source: string;
  first_address: string;
  confirmations: number | null;
  tolerance_basis_points: number | null;
  created_at: Timestamp;
  replaced_at: NullableTimestamp;
}

/** The database as Kysely sees it; `migrations/` is its source. */
export interface Tables {
  projects: ProjectsTable;
  project_logos: ProjectLogosTable;
  api_keys: ApiKeysTable;
  payments: PaymentsTable;
  transaction_counters: { project_id: string; mode: Mode; year: number; last: number };
  payment_day_counts: {
    project_id: string;
    mode: Mode;
    surface: Surface;
    day: string;
    status: PaymentStatus;
    shard: number;
    payments: Integer;
    usd_cents: Integer;
  };
  payment_arrows: {
    id: Generated<bigint>;
    payment_id: string;
    from_status: PaymentStatus;
    to_status: PaymentStatus;
    cause: string;
    at: Timestamp;
  };
  payment_addresses: PaymentAddressesTable;
  payment_quotes: PaymentQuotesTable;
  transfers: TransfersTable;
  idempotency_keys: {
    project_id: string;
    mode: Mode;
    route: string;
    key: string;
    body_hash: Buffer;
    response: string;
    created_at: Timestamp;
  };
  events: {
    id: string;
    project_id: string;
    mode: Mode;
    payment_id: string | null;
    type: EventType;
    body: string;
    created_at: Timestamp;
    request_id: string | null;
  };
  webhook_endpoints: WebhookEndpointsTable;
  deliveries: DeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
  refunds: RefundsTable;
  refund_payouts: {
    network: Network;
    transaction_hash: string;
    asset: AssetCode;
    output_index: number;
    refund_id: string;
    block_height: number;
    spends: Generated<string[]>;
    is_guess: Generated<boolean>;
  };
  waiting_payouts: {
    network: Network;
    transaction_hash: string;
    asset: AssetCode;
    output_index: number;
    refund_id: string;
    spends: string[];
    since: Timestamp;
    dropped_at: NullableTimestamp;
    is_guess: Generated<boolean>;
  };
  refund_balances: {
    refund_id: string;
    balance_units: NullableInteger;
    looked_height: number;
    grown_units: NullableInteger;
    grown_height: number | null;
  };
  change_addresses: { network: Network; address: string; first_change_address: string; change_index: number };
  change_watches: {
    wallet_id: string;
    kind: WalletKind;
    source: string;
    network: Network;
    first_change_address: string | null;
  };
  change_outputs: {
    network: Network;
    transaction_hash: string;
    output_index: number;
    address: string;
    amount_units: Integer;
    block_height: number;
    block_hash: string;
  };
  refund_changes: { refund_id: string; network: Network; address: string };
  refund_inputs: { refund_id: string; network: Network; transaction_hash: string; output_index: number };
  raw_transactions: { network: Network; transaction_hash: string; bytes: Buffer };
  wallets: WalletsTable;
  address_indexes: { network: Network; first_address: string; next_index: number; halted_reason: string | null };
  skipped_indexes: {
    network: Network;
    first_address: string;
    from_index: number;
    to_index: number;
    watched_to: number;
    skipped_at: Timestamp;
  };
  unissued_addresses: { network: Network; address: string; first_address: string; address_index: number };
  lost_transfers: LostTransfersTable;
  chain_cursors: {
    network: Network;
    height: number;
    hash: string;
    block_at: Timestamp;
    updated_at: Timestamp;
    looked_at: NullableTimestamp;
    at_head_at: NullableTimestamp;
    problem: string | null;
  };
  chain_blocks: { network: Network; height: number; hash: string; block_at: Timestamp };
  chain_nodes: {
    network: Network;
    node: string;
    height: number | null;
    problem: string | null;
    checked_at: Timestamp;
  };
  backups: {
    started_at: Timestamp;
    finished_at: Timestamp;
    file: string | null;
    bytes: NullableInteger;
    problem: string | null;
  };
  leases: { name: string; holder: string; until: Timestamp };
}
