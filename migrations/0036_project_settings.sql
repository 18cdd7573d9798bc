-- What a payment gets whose creation leaves it out; null: what the service itself takes. The currency is chosen in the dashboard's
-- form, for the APIs require it.
alter table projects
  add column default_expiry_minutes integer,
  add column default_currency text,
  add column default_success_url text;

-- Logos that somebody looks at in a preview and has not saved. Each is forgotten after an hour.
create table logo_drafts (
  project_id uuid not null references projects (id),
  hash text not null,
  type text not null,
  bytes bytea not null,
  created_at timestamptz not null,
  primary key (project_id, hash)
);
