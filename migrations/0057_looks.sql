-- Who must know that a chain was read up to its node's newest block asks for a look, and waits until that one is done.
alter table chain_cursors add column look_wanted integer not null default 0;
alter table chain_cursors add column look_done integer not null default 0;
