-- Refunds whose address was not yet compared with the transactions that wait to be mined: one of them may pay it already.
create table if not exists uncompared_refunds (
  refund_id uuid primary key references refunds (id),
  network text not null
);

-- Refunds that failed lately, to see with each block whether a contract pays one of them all the same.
drop index concurrently if exists refunds_failed;
create index concurrently refunds_failed on refunds (network, created_at) where status = 'failed' and watched_address is not null;
