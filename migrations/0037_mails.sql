-- Mails that are to be sent, saved in the transaction of what they are about. Links that sign somebody in are made when a mail is
-- sent, so that none is ever in it.
create table mails (
  id uuid primary key,
  person_id uuid not null references people (id),
  kind text not null,
  -- One occurrence of what it is about: nobody gets two mails of it.
  occasion text not null,
  -- Emptied when it is sent or given up.
  content jsonb not null,
  created_at timestamptz not null,
  -- When it is sent next; once it is claimed, when that lease ends. Null: it was sent or given up.
  next_attempt_at timestamptz,
  give_up_at timestamptz not null,
  attempts integer not null,
  -- sent, refused by the mail server, given up, or dropped since nobody wants it any more.
  outcome text,
  ended_at timestamptz,
  problem text,
  unique (person_id, occasion)
);
create index mails_waiting on mails (next_attempt_at) where next_attempt_at is not null;
create index mails_by_occasion on mails (occasion);
create index mails_ended on mails (ended_at) where ended_at is not null;

-- What switches one kind of mail off without signing in, once. Of each token only the SHA-256 is kept.
create table mail_unsubscribes (
  token_hash bytea primary key,
  person_id uuid not null references people (id),
  notification text not null,
  created_at timestamptz not null,
  used_at timestamptz
);
create index mail_unsubscribes_by_age on mail_unsubscribes (created_at);

-- What needed attention, as a worker noticed it: people are told of each occurrence once.
create table attention_occurrences (
  id bigint generated always as identity primary key,
  project_id uuid not null references projects (id),
  mode text not null check (mode in ('test', 'live')),
  kind text not null,
  subject text not null,
  occurrence text not null,
  -- What a mail says of it.
  name text not null,
  amount text,
  detail text,
  noticed_at timestamptz not null,
  ended_at timestamptz,
  -- Of endpoints: when mails went out that it fails, and when it was over for those who got them.
  mailed_at timestamptz,
  mailed_over_at timestamptz,
  unique (project_id, mode, kind, subject, occurrence)
);
create index attention_occurrences_open on attention_occurrences (project_id, mode, id) where ended_at is null;
create index attention_occurrences_ended on attention_occurrences (ended_at) where ended_at is not null;

-- What people chose to get by mail; who has no row has chosen nothing.
create table notification_choices (
  person_id uuid primary key references people (id),
  wallet_changed boolean not null,
  endpoints boolean not null,
  attention text not null check (attention in ('at_once', 'daily', 'off')),
  -- From 1 for Monday to 7.
  weekly_on smallint,
  zone text,
  language text check (language in ('en', 'de')),
  -- The newest occurrence that was mailed to this person, or was there before they asked for it.
  attention_seen bigint not null,
  attention_mailed_at timestamptz,
  -- The last days, in the person's zone, of whose mails were made.
  daily_made text,
  weekly_made text
);
