create table logo_drafts (
  project_id uuid not null references projects (id),
  hash text not null,
  type text not null,
  bytes bytea not null,
  created_at timestamptz not null,
  primary key (project_id, hash)
);
