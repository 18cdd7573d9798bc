-- Whether a payout is taken for that of a refund that had failed before only because of its exact amount and address: it warns, but
-- takes no money from the refunds that are made later.
alter table refund_payouts add column is_guess boolean not null default false;
alter table waiting_payouts add column is_guess boolean not null default false;

-- When a network was last read to the end of its node's chain; null since its cursor moved, or the service was started.
alter table chain_cursors add column at_head_at timestamptz;
