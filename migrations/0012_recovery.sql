-- What a restored database passes over, what is watched for it, and the money that comes there.

-- Why no more addresses of a wallet are handed out; null: they are.
alter table address_indexes add column halted_reason text;

-- Numbers of a wallet's addresses that were passed over, from inclusive, to exclusive: a copy whose records are lost may have
-- handed them out. Those below watched_to are in unissued_addresses.
create table skipped_indexes (
  network text not null,
  first_address text not null,
  from_index integer not null,
  to_index integer not null,
  watched_to integer not null,
  skipped_at timestamptz not null,
  primary key (network, first_address, from_index)
);

-- Addresses of wallets that nobody here was given: those passed over, and those that come next. In the form in which the
-- chain's transfers carry them.
create table unissued_addresses (
  network text not null,
  address text not null,
  first_address text not null,
  address_index integer not null,
  primary key (network, address)
);
create index unissued_addresses_by_wallet on unissued_addresses (network, first_address, address_index);

-- Money on such addresses. Without a block: the chain took it back. With a payment: it was booked.
create table lost_transfers (
  network text not null,
  transaction_hash text not null,
  asset text not null,
  output_index integer not null,
  address text not null,
  first_address text not null,
  address_index integer not null,
  amount_units numeric(78, 0) not null,
  found_at timestamptz not null,
  block_height integer,
  block_hash text,
  block_at timestamptz,
  block_position integer,
  payment_id uuid,
  primary key (network, transaction_hash, asset, output_index)
);
create index lost_transfers_by_height on lost_transfers (network, block_height);
create index lost_transfers_by_address on lost_transfers (network, address);
