-- Payouts of refunds that are in no block: they wait in a mempool, or a reorganisation took them back. Each stays with its
-- refund, whatever becomes of the two, so that it never pays another one. One that waits nowhere any more is kept as dropped.
create table waiting_payouts (
  network text not null,
  transaction_hash text not null,
  asset text not null,
  output_index integer not null,
  refund_id uuid not null references refunds (id),
  spends text[] not null default '{}',
  since timestamptz not null,
  dropped_at timestamptz,
  primary key (network, transaction_hash, asset, output_index)
);
create index waiting_payouts_by_refund on waiting_payouts (refund_id);

-- What a payout spends, as txid:vout, by which its replacement is known; empty where money is not in outputs.
alter table refund_payouts add column spends text[] not null default '{}';

-- Refunds of every status: what pays a cancelled one must not pay another.
create index refunds_by_watched_address on refunds (network, watched_address) where watched_address is not null;
