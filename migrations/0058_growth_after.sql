-- The height of the block before those in which a balance grew: they may be several, read together after a break. Null: the
-- process that wrote the row did not save it, and compared one block.
alter table refund_balances add column grown_after integer;
