-- Messages that were given up for newer ones are few; the list of deliveries finds them by this. Built beside the writers of a filled database
-- (docs/decisions/0107): one that is half built is built anew.
drop index concurrently if exists deliveries_overtaken;
create index concurrently deliveries_overtaken on deliveries (endpoint_id, id desc) where state = 'overtaken';
