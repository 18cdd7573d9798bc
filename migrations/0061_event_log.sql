-- The position of each event in the log of its project and mode: 1, 2, 3 …, in the order in which commits became visible. A row
-- without an event is a gap: nobody knows what the positions from gap_from to its own meant, or whether they were used.
create table event_positions (
  project_id uuid not null,
  mode text not null,
  position bigint not null,
  event_id uuid,
  gap_from bigint,
  gap_reason text,
  primary key (project_id, mode, position)
);
create unique index event_positions_by_event on event_positions (event_id);
create index event_gaps on event_positions (project_id, mode, position) where event_id is null;

-- The last position of each log, and the one below which events were deleted.
create table event_heads (
  project_id uuid not null,
  mode text not null,
  head bigint not null,
  oldest bigint not null default 1,
  primary key (project_id, mode)
);

-- Events that have no position yet, in the order in which their transactions wrote them. Without an index, because all of them are
-- taken a moment later.
create table unnumbered_events (
  n bigint generated always as identity,
  event_id uuid not null
);

-- A trigger, because processes of an earlier version write events too. Samples of webhooks are not in the log: they are of no
-- payment, and say that they are a test.
create function queue_events() returns trigger language plpgsql as $$
begin
  insert into unnumbered_events (event_id) select id from new_events where payment_id is not null or body not like '%"test":true%';
  return null;
end $$;
create trigger events_are_queued after insert on events
  referencing new table as new_events for each statement execute function queue_events();

-- A row while events from before the log are numbered, oldest first: up to number_to; numbered_to is the last one that has its
-- position.
create table event_numbering (
  id smallint primary key,
  numbered_to uuid,
  number_to uuid not null
);
insert into event_numbering (id, number_to) select 1, id from events order by id desc limit 1;
