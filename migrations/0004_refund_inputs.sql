-- What a refund on Bitcoin and its kin is paid from, and where its change goes.

-- Change addresses of the wallets that are followed, each chain named by its first address: from number 0 on as many as a
-- wallet looks ahead of the last one that was seen.
create table change_addresses (
  network text not null,
  address text not null,
  first_change_address text not null,
  change_index integer not null,
  primary key (network, address)
);
create index change_addresses_by_chain on change_addresses (network, first_change_address, change_index);

-- The wallets whose change is watched, and the chain it goes to; null: where that is is not known. A wallet whose source was
-- exchanged is looked at again.
create table change_watches (
  wallet_id uuid not null references wallets (id),
  kind text not null,
  source text not null,
  network text not null,
  first_change_address text,
  primary key (wallet_id, kind, source)
);
create index change_watches_by_chain on change_watches (network, first_change_address);

-- What blocks paid to change addresses: money that refunds may spend, and the proof that an address was used.
create table change_outputs (
  network text not null,
  transaction_hash text not null,
  output_index integer not null,
  address text not null,
  amount_units numeric(78, 0) not null,
  block_height integer not null,
  block_hash text not null,
  primary key (network, transaction_hash, output_index)
);
create index change_outputs_by_address on change_outputs (network, address);
create index change_outputs_by_height on change_outputs (network, block_height);

-- Where the change of a shown refund goes, as long as the refund is pending.
create table refund_changes (
  refund_id uuid primary key references refunds (id),
  network text not null,
  address text not null
);
create index refund_changes_by_address on refund_changes (network, address);

-- What a shown refund spends: held for it as long as it is pending.
create table refund_inputs (
  refund_id uuid not null references refunds (id),
  network text not null,
  transaction_hash text not null,
  output_index integer not null,
  primary key (refund_id, transaction_hash, output_index)
);
create index refund_inputs_by_output on refund_inputs (network, transaction_hash, output_index);

-- Transactions that paid to P2PKH addresses: spending such money takes all of them, which a pruned node forgets.
create table raw_transactions (
  network text not null,
  transaction_hash text not null,
  bytes bytea not null,
  primary key (network, transaction_hash)
);
