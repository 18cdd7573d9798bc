-- The heights of blocks in which a balance grew and that no node has traced yet; 0 stands for blocks that are gone. Growth that
-- was saved before stays, because nobody knows its blocks. They are traced again at next_trace_height; null: no more.
alter table refund_balances add column untraced_blocks integer[] not null default '{}', add column next_trace_height integer;
update refund_balances set untraced_blocks = '{0}' where grown_units is not null;
-- Due refunds wait for it.
create index refund_balances_traced on refund_balances (refund_id) where next_trace_height is not null;
