-- What lay on deposit contracts when a node was last asked; token '' is the chain's own coin. Addresses as in payment_addresses.
create table deposit_balances (
  project_id uuid not null references projects (id),
  network text not null,
  address text not null,
  token text not null,
  payment_id uuid not null,
  -- The address that the deposit pays out to, with its checksum, and the deposit's number there.
  treasury text not null,
  address_index integer not null,
  -- Null: the chain's own coin, on a network where it is not accepted.
  asset text,
  units numeric(78, 0) not null,
  -- At the price that its payment was quoted at, or the market's of then; null: neither was known.
  usd_cents bigint,
  priced_by text check (priced_by in ('quote', 'market')),
  block_height integer not null,
  checked_at timestamptz not null,
  primary key (network, address, token)
);
create index deposit_balances_of_project on deposit_balances (project_id, network);

-- When the deposits of a project were last asked for on a network, and what went wrong since; the price of gas is of then.
create table deposit_checks (
  project_id uuid not null references projects (id),
  network text not null,
  -- Null: never with success.
  checked_at timestamptz,
  block_height integer,
  gas_price numeric(78, 0),
  -- The addresses of the deposit factories that are on the chain.
  factories text[] not null,
  -- The last attempt, which may still be under way.
  started_at timestamptz not null,
  problem text,
  primary key (project_id, network)
);

-- Transactions that pay deposits out to their treasury, and those that put a factory on the chain.
create table sweeps (
  id uuid primary key,
  project_id uuid not null references projects (id),
  network text not null,
  purpose text not null check (purpose in ('sweep', 'deploy_factory')),
  -- dashboard: a person sent it there; chain: it was found there, whoever sent it.
  source text not null check (source in ('dashboard', 'chain')),
  -- asked: a wallet is being asked; sent: the wallet has sent it; seen: a node knows it; mined: it paid at least one deposit out;
  -- failed: the chain refused it, or it paid nothing; ended: it was never sent, or replaced by another.
  state text not null check (state in ('asked', 'sent', 'seen', 'mined', 'failed', 'ended')),
  -- Null when it deploys a factory.
  treasury text,
  -- Who sent it in the dashboard; and the address that paid for its gas.
  person_id uuid references people (id),
  sender text,
  call_to text,
  call_data text,
  -- Null until it is known; of a sweep found on the chain: it could not be found out which transaction it was.
  transaction_hash text,
  problem text,
  created_at timestamptz not null,
  sent_at timestamptz,
  block_height integer,
  block_hash text,
  -- The time of its block.
  mined_at timestamptz,
  gas_used bigint,
  -- What was paid for its gas, in the smallest unit of the chain's own coin.
  fee_units numeric(78, 0),
  fee_usd_cents bigint,
  -- When its block had enough confirmations, so that it is followed no further.
  final_at timestamptz,
  -- When it is followed next; null: never again.
  check_at timestamptz
);
create index sweeps_of_project on sweeps (project_id, created_at desc, id desc);
create unique index sweeps_by_transaction on sweeps (project_id, network, transaction_hash);
create index sweeps_due on sweeps (check_at) where check_at is not null;

-- What a sweep takes from each deposit; token '' is the chain's own coin.
create table sweep_transfers (
  sweep_id uuid not null references sweeps (id),
  project_id uuid not null,
  network text not null,
  deposit_address text not null,
  token text not null,
  payment_id uuid not null,
  address_index integer not null,
  asset text,
  -- open: not mined yet; mined: it left the deposit for the treasury; failed: it stayed there.
  state text not null check (state in ('open', 'mined', 'failed')),
  -- What lay there when the sweep was made; once mined, what left, to the last unit.
  units numeric(78, 0) not null,
  transaction_hash text,
  block_height integer,
  mined_at timestamptz,
  -- What it was worth when it was mined, at the price of that moment; null: unknown.
  usd_cents bigint,
  primary key (sweep_id, deposit_address, token)
);
create index sweep_transfers_of_project on sweep_transfers (project_id, mined_at) where state = 'mined';
create index sweep_transfers_by_deposit on sweep_transfers (network, deposit_address);
