-- Figures of payments by the time of their creation, added up by a worker once an hour is over. They can be made anew from the
-- payments at any time. Slots begin at `at` and last `minutes`.
create table payment_figures (
  project_id uuid not null,
  mode text not null,
  minutes smallint not null check (minutes in (15, 60)),
  at timestamptz not null,
  status text not null,
  -- Of completed payments; empty otherwise, for the token can still change.
  network text not null,
  asset text not null,
  currency text not null,
  payments integer not null,
  usd_cents bigint not null,
  amount_minor bigint not null,
  primary key (project_id, mode, minutes, at, status, network, asset, currency)
);

-- How long completed payments took: classes of durations (src/domain/duration-class.ts) and how many payments are in each.
create table completion_times (
  project_id uuid not null,
  mode text not null,
  minutes smallint not null check (minutes in (15, 1440)),
  at timestamptz not null,
  network text not null,
  asset text not null,
  classes integer[] not null,
  payments integer[] not null,
  primary key (project_id, mode, minutes, at, network, asset)
);

-- How far the figures are: one row. Hours before `closed_until` are added up; of changes since, those with transitions up to
-- `taken_in` are. Transitions get their ids before they are saved: `newest` becomes `taken_in` once every database transaction
-- before `ended_before` has ended.
create table figures_progress (
  id boolean primary key default true check (id),
  closed_until timestamptz,
  taken_in bigint,
  newest bigint,
  ended_before bigint
);
insert into figures_progress default values;

-- What people have written to what needs attention. What needs it follows from payments, refunds, endpoints and networks; only
-- this is stored. A row is about one occurrence: another fault of the same subject has another.
create table attention_marks (
  project_id uuid not null references projects (id),
  mode text not null check (mode in ('test', 'live')),
  kind text not null,
  subject text not null,
  occurrence text not null,
  assigned_to uuid references people (id),
  note text,
  done_at timestamptz,
  done_by uuid references people (id),
  -- Counts the changes: one that was made to an earlier version is refused.
  version integer not null,
  changed_at timestamptz not null,
  primary key (project_id, mode, kind, subject, occurrence)
);
