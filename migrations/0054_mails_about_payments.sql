-- The mails about a project's payments that a person has chosen; a project without a row has none.
create table project_notifications (
  person_id uuid not null references people (id),
  project_id uuid not null references projects (id),
  payments text not null check (payments in ('at_once', 'daily', 'off')),
  refunds boolean not null,
  monthly boolean not null,
  -- Mails at once are about what happened since. Each choice has its own time.
  payments_since timestamptz not null,
  refunds_since timestamptz not null,
  -- The last days, in the person's zone, on which the daily and the monthly mail were made.
  daily_made text,
  monthly_made text,
  primary key (person_id, project_id)
);

-- How far payments were followed for mails: the row 1, which the worker makes. Every completed payment whose transition has an id up
-- to `taken_in` has its mails. Transitions get their ids before they are saved: `newest` becomes `taken_in` once every database
-- transaction before `ended_before` has ended. Events since `events_until`, and some time before it, are compared with the mails.
create table mail_progress (
  id smallint primary key,
  taken_in bigint not null,
  newest bigint not null,
  ended_before bigint,
  events_until timestamptz not null
);

-- The project of the mails that the token switches off; null: the kind is not of one project.
alter table mail_unsubscribes add column project_id uuid references projects (id);
