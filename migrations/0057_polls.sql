-- A request that must know that a chain was read up to its node's newest block asks for a poll, and waits until it is done.
alter table chain_cursors add column poll_wanted integer not null default 0;
alter table chain_cursors add column poll_done integer not null default 0;
