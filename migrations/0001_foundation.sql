-- Projects, keys, payments and the outbox. Times are UTC; amounts are integers in the smallest unit.

create table projects (
  id uuid primary key,
  name text not null,
  active boolean not null default true,
  allow_ips text[] not null default '{}',
  allow_origins text[] not null default '{}',
  created_at timestamptz not null
);

-- Only the hash of a key is kept: the key itself is shown once.
create table api_keys (
  id uuid primary key,
  project_id uuid not null references projects (id),
  mode text not null check (mode in ('test', 'live')),
  kind text not null check (kind in ('secret', 'public')),
  permission text not null check (permission in ('full', 'read', 'write')),
  name text not null,
  hash bytea not null unique,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index api_keys_by_project on api_keys (project_id);

create table payments (
  id uuid primary key,
  project_id uuid not null references projects (id),
  mode text not null check (mode in ('test', 'live')),
  surface text not null check (surface in ('transaction', 'order')),
  status text not null,
  exception text not null,
  failure_reason text,
  transaction_number text,
  amount_minor bigint not null,
  currency text not null,
  amount_usd_cents bigint not null,
  merchant_order_id text,
  description text,
  customer_email text,
  customer_name text,
  success_url text,
  cancel_url text,
  metadata jsonb,
  -- The current quote; null until a token is chosen.
  asset text,
  network text,
  decimals smallint,
  owed_units numeric(78, 0),
  tolerance_units numeric(78, 0),
  address text,
  -- The money on that quote, as the rail last saw it.
  seen_units numeric(78, 0) not null,
  mined_units numeric(78, 0) not null,
  confirmed_units numeric(78, 0) not null,
  seen_in_time_units numeric(78, 0) not null,
  mined_in_time_units numeric(78, 0) not null,
  confirmed_in_time_units numeric(78, 0) not null,
  deciding_hash text,
  transaction_hash text,
  completed_on_units numeric(78, 0),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  grace_until timestamptz,
  completed_at timestamptz,
  cancelled_at timestamptz,
  completes_at timestamptz,
  -- State is the schedule: when the payment's next deadline is to be looked at.
  due_at timestamptz,
  confirming_sent boolean not null,
  last_sequence integer not null
);
-- Ids begin with the time of creation, so they order payments by time; without a column for it the indexes are smaller and
-- grow at one end only.
create index payments_by_time on payments (project_id, mode, surface, id);
create index payments_by_status on payments (project_id, mode, surface, status, id);
create index payments_due on payments (due_at) where due_at is not null;
create unique index payments_by_number on payments (project_id, mode, transaction_number)
  where transaction_number is not null;

-- Gapless numbers of transactions: risen in the transaction that saves the payment.
create table transaction_counters (
  project_id uuid not null,
  mode text not null,
  year integer not null,
  last integer not null,
  primary key (project_id, mode, year)
);

-- How many payments, and how much, by day and status: lists and statistics add these up instead of the payments.
-- Writers spread over shards, so that two batches do not wait for each other's row.
create table payment_day_counts (
  project_id uuid not null,
  mode text not null,
  surface text not null,
  day date not null,
  status text not null,
  shard smallint not null,
  payments bigint not null,
  usd_cents bigint not null,
  primary key (project_id, mode, surface, day, status, shard)
) with (fillfactor = 50);

-- Every arrow that a payment's status walked.
create table payment_arrows (
  id bigint generated always as identity primary key,
  payment_id uuid not null,
  from_status text not null,
  to_status text not null,
  cause text not null,
  at timestamptz not null
);
create index payment_arrows_by_payment on payment_arrows (payment_id, id);

-- Every address that was ever issued, with the quote it was issued for. It stays watched after the payment's end.
create table payment_addresses (
  network text not null,
  address text not null,
  payment_id uuid not null,
  wallet_id uuid,
  address_index integer,
  asset text not null,
  decimals smallint not null,
  owed_units numeric(78, 0) not null,
  tolerance_units numeric(78, 0) not null,
  issued_at timestamptz not null,
  watch_until timestamptz not null,
  primary key (network, address)
);
create index payment_addresses_by_payment on payment_addresses (payment_id);

-- What the rails saw arrive. One row a transfer; its state follows the chain.
create table transfers (
  network text not null,
  transaction_hash text not null,
  output_index integer not null,
  payment_id uuid not null,
  address text not null,
  asset text not null,
  amount_units numeric(78, 0) not null,
  state text not null check (state in ('seen', 'mined', 'confirmed', 'dropped')),
  first_seen_at timestamptz not null,
  block_height integer,
  block_hash text,
  block_at timestamptz,
  -- A native payment and a token's first log share index 0.
  primary key (network, transaction_hash, asset, output_index)
);
create index transfers_by_payment on transfers (payment_id);
create index transfers_unconfirmed on transfers (network, block_height) where state in ('seen', 'mined');

create table idempotency_keys (
  project_id uuid not null,
  mode text not null,
  route text not null,
  key text not null,
  body_hash bytea not null,
  response text not null,
  created_at timestamptz not null,
  primary key (project_id, mode, route, key)
);
create index idempotency_keys_by_time on idempotency_keys (created_at);

-- The outbox: one event, one id, one byte string for all endpoints and attempts.
create table events (
  id uuid primary key,
  project_id uuid not null,
  mode text not null,
  payment_id uuid,
  type text not null,
  body text not null,
  created_at timestamptz not null
);
create index events_by_payment on events (payment_id);

create table webhook_endpoints (
  id uuid primary key,
  project_id uuid not null references projects (id),
  mode text not null check (mode in ('test', 'live')),
  url text not null,
  events text[] not null,
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  disabled_at timestamptz,
  disabled_reason text,
  deleted_at timestamptz,
  created_at timestamptz not null
);
create index webhook_endpoints_by_project on webhook_endpoints (project_id, mode) where deleted_at is null;

-- `next_attempt_at` is both the schedule and the lease: claiming moves it ahead, so that a worker that dies gives it back.
create table deliveries (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  endpoint_id uuid not null,
  state text not null check (state in ('waiting', 'delivered', 'failed', 'stopped')),
  attempts smallint not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  delivered_at timestamptz
) with (
  -- Every delivery moves through the index of waiting ones: what it leaves behind is cleared away early.
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_analyze_scale_factor = 0.02
);
create index deliveries_due on deliveries (endpoint_id, next_attempt_at, id) where next_attempt_at is not null;
create index deliveries_by_endpoint on deliveries (endpoint_id, id desc);
create index deliveries_by_age on deliveries using brin (created_at);

create table delivery_attempts (
  id bigint generated always as identity primary key,
  delivery_id bigint not null,
  manual boolean not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  request_headers jsonb not null,
  response_status smallint,
  response_headers jsonb,
  response_body text,
  response_truncated boolean not null,
  error_stage text,
  error text
);
create index delivery_attempts_by_delivery on delivery_attempts (delivery_id, id);

create table refunds (
  id uuid primary key,
  project_id uuid not null references projects (id),
  mode text not null check (mode in ('test', 'live')),
  payment_id uuid not null references payments (id),
  payment_surface text not null,
  status text not null check (status in ('pending', 'completed', 'failed')),
  amount_minor bigint not null,
  currency text not null,
  asset text not null,
  network text not null,
  decimals smallint not null,
  units numeric(78, 0) not null,
  address text,
  reason text,
  failure_reason text,
  transaction_hash text,
  created_at timestamptz not null,
  completed_at timestamptz,
  due_at timestamptz
);
create index refunds_by_time on refunds (project_id, mode, created_at desc, id desc);
create index refunds_by_payment on refunds (payment_id);
create index refunds_due on refunds (due_at) where due_at is not null;

-- A wallet without keys: what addresses are derived from. Replacing one keeps the old, whose addresses stay watched.
create table wallets (
  id uuid primary key,
  project_id uuid not null references projects (id),
  network text not null,
  kind text not null check (kind in ('xpub')),
  source text not null,
  -- Names the wallet whatever form its source was written in.
  first_address text not null,
  confirmations integer,
  created_at timestamptz not null,
  replaced_at timestamptz
);
-- The next index of each wallet: projects that share one never get the same address.
create table address_indexes (
  network text not null,
  first_address text not null,
  next_index integer not null,
  primary key (network, first_address)
);
create unique index wallets_current on wallets (project_id, network) where replaced_at is null;

-- How far a network was read. Blocks keep their hashes, so that a reorganisation is seen and rolled back to its fork.
create table chain_cursors (
  network text primary key,
  height integer not null,
  hash text not null,
  block_at timestamptz not null,
  updated_at timestamptz not null
);
create table chain_blocks (
  network text not null,
  height integer not null,
  hash text not null,
  block_at timestamptz not null,
  primary key (network, height)
);

-- One holder at a time for work that must not run twice.
create table leases (
  name text primary key,
  holder text not null,
  until timestamptz not null
);
