-- Which request an event goes back to, for the log alone: no body and no header of a webhook carries it. Null: time or a chain
-- made it, or a process that does not know the column.
alter table events add column request_id text;
