-- The events of a project, newest first, of one type or all; and what was not delivered, which is little of everything.
drop index concurrently if exists events_by_type;
create index concurrently events_by_type on events (project_id, mode, type, id desc);
drop index concurrently if exists deliveries_undelivered;
create index concurrently deliveries_undelivered on deliveries (endpoint_id, id desc) where state in ('failed', 'stopped');
