-- A paused endpoint gets nothing; what is due to it waits.
alter table webhook_endpoints add column paused_at timestamptz;

-- Deliveries that somebody sends again together, at most 10,000. They are made due, and the workers send them.
create table delivery_retries (
  id uuid primary key,
  project_id uuid not null references projects (id),
  mode text not null check (mode in ('test', 'live')),
  started_at timestamptz not null,
  total integer not null,
  stopped_at timestamptz
);
create index delivery_retries_by_project on delivery_retries (project_id, mode, id desc);

-- What each of them was before: it becomes this again once it was attempted in vain, because attempts that somebody asks for are
-- extra. What is not under way becomes it when the retry is stopped, and is forgotten.
create table retried_deliveries (
  retry_id uuid not null references delivery_retries (id) on delete cascade,
  delivery_id bigint not null,
  state text not null,
  next_attempt_at timestamptz,
  attempted boolean not null,
  primary key (retry_id, delivery_id)
);
create index retried_deliveries_unattempted on retried_deliveries (delivery_id) where not attempted;

-- Calls of the APIs: those that were refused or change something, and some of the others. Without bodies and queries. A row is
-- all calls of one second that are alike; each has its id, which has the time, its request id and its duration.
create table api_requests (
  project_id uuid not null,
  mode text not null,
  last_id uuid not null,
  first_id uuid not null,
  method text not null,
  path text not null,
  status smallint not null,
  key_id uuid not null,
  -- Null for public keys, which are used by customers.
  ip text,
  user_agent text,
  error_type text,
  error_param text,
  error text,
  -- Not compressed: ids are random, and that costs more than saving them.
  ids uuid[] storage external not null,
  request_ids text[] storage external not null,
  durations integer[] storage external not null,
  primary key (project_id, mode, last_id)
);
create index api_requests_refused on api_requests (project_id, mode, last_id) where status >= 400;

-- How many calls there are, by the minute: the oldest are deleted by this.
create table api_request_counts (
  project_id uuid not null,
  mode text not null,
  at timestamptz not null,
  requests integer not null,
  primary key (project_id, mode, at)
);
