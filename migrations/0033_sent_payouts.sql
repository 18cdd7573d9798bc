-- Signed transactions that were given to the service to send: kept before they are sent, so that a crash loses none.
create table sent_payouts (
  refund_id uuid not null references refunds (id),
  network text not null,
  transaction_hash text not null,
  sent_at timestamptz not null,
  -- What the node said when it refused it; such a transaction is not sent again by itself.
  refused_reason text,
  primary key (refund_id, transaction_hash)
);
create index sent_payouts_by_network on sent_payouts (network, sent_at) where refused_reason is null;
