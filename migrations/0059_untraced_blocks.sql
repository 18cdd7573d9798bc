-- The heights of blocks in which a balance grew and that no node has traced yet; empty beside growth: nobody knows them, as where
-- an earlier version saved it, and -1 stands for such blocks beside others. They are traced again at next_trace_height, null: no
-- more, and were retraces times so far.
alter table refund_balances add column untraced_blocks integer[] not null default '{}', add column next_trace_height integer,
  add column retraces integer not null default 0;
-- Due refunds wait for it.
create index refund_balances_traced on refund_balances (refund_id) where next_trace_height is not null;
