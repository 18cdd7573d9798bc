-- Live chains: wallets of every kind, confirmations and tolerance of their own, and how each node is.

alter table wallets drop constraint wallets_kind_check;
alter table wallets add constraint wallets_kind_check check (kind in ('xpub', 'descriptor', 'treasury'));
alter table wallets add column tolerance_basis_points integer;

-- How deep a transfer to this address must be: fixed when the address is handed out.
alter table payment_addresses add column confirmations integer not null default 12;
alter table payment_addresses alter column confirmations drop default;

-- What the watcher last heard of each node, for other processes and the command line.
create table chain_nodes (
  network text not null,
  node text not null,
  height integer,
  problem text,
  checked_at timestamptz not null,
  primary key (network, node)
);

-- Most transfers of a network are final; what may still change is found here.
drop index transfers_unconfirmed;
create index transfers_waiting on transfers (network) where state in ('seen', 'mined');
create index transfers_by_height on transfers (network, block_height);

-- When the mempool was last looked at with no block left to take in: everything up to then was seen.
alter table chain_cursors add column looked_at timestamptz;

-- The newest addresses of a wallet: its gap.
create index payment_addresses_by_wallet on payment_addresses (wallet_id, address_index);

-- Payments that wait for money on a chain.
create index payments_awaiting on payments (network, asset)
  where mode = 'live' and (status = 'pending' or exception = 'reorged');

-- Where a refund is to be paid, in the form in which the chain's transfers carry it.
alter table refunds add column watched_address text;
create index refunds_awaiting on refunds (network, watched_address) where status = 'pending' and watched_address is not null;

-- Transfers that pay a refund from the merchant's own wallet; once deep enough, one completes it.
create table refund_payouts (
  network text not null,
  transaction_hash text not null,
  asset text not null,
  output_index integer not null,
  refund_id uuid not null references refunds (id),
  block_height integer not null,
  primary key (network, transaction_hash, asset, output_index)
);
create index refund_payouts_by_refund on refund_payouts (refund_id);

-- How much dearer than the market a project's customers buy, in hundredths of a percent.
alter table projects add column spread_basis_points integer not null default 0;

-- What a deposit must hold, at the price that its payment was quoted at, to be worth a sweep's gas.
alter table projects add column sweep_min_usd_cents bigint not null default 0;

-- How much of what arrived on an address was gone when its balance was last looked at: what comes later is more than that.
alter table payment_addresses add column spent_units numeric(78, 0);
create index payment_addresses_spent on payment_addresses (network) where spent_units > 0;
create index payment_addresses_watched on payment_addresses (network, watch_until);

-- Why the chain cannot be followed at present.
alter table chain_cursors add column problem text;
