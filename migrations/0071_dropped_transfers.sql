-- Finds the sales at the till whose money has disappeared. Built beside the writers of a filled database (docs/decisions/0107): one that is
-- half built is built anew.
drop index concurrently if exists transfers_dropped;
create index concurrently transfers_dropped on transfers (first_seen_at) where state = 'dropped';
