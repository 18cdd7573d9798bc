-- Who may use the dashboard. A person who was invited has no password yet.
create table people (
  id uuid primary key,
  email text not null,
  -- PHC string of argon2id.
  password_hash text,
  -- Sealed as the secrets of webhooks are. One that no code has confirmed yet counts for nothing.
  totp_secret bytea,
  totp_pending bytea,
  -- The last step that a code was taken of: each counts once.
  totp_last_step bigint,
  deactivated_at timestamptz,
  created_at timestamptz not null,
  -- When the account was made: from the first one on there is no set-up.
  joined_at timestamptz,
  last_seen_at timestamptz
);
create unique index people_by_email on people (lower(email));

-- What a person is in a project, or in all of them where none is named.
create table memberships (
  id uuid primary key,
  person_id uuid not null references people (id),
  project_id uuid references projects (id),
  role text not null check (role in ('owner', 'admin', 'developer', 'support', 'viewer')),
  created_at timestamptz not null
);
create unique index memberships_in_project on memberships (person_id, project_id) where project_id is not null;
create unique index memberships_everywhere on memberships (person_id) where project_id is null;

-- One-time links of set-up (of nobody yet), invitation and reset. Of every token below only the SHA-256 is kept.
create table account_links (
  token_hash bytea primary key,
  purpose text not null check (purpose in ('setup', 'invitation', 'reset')),
  person_id uuid references people (id),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index account_links_by_person on account_links (person_id);

create table sessions (
  id uuid primary key,
  token_hash bytea not null unique,
  person_id uuid not null references people (id),
  signed_in_at timestamptz not null,
  last_used_at timestamptz not null,
  -- When the person last proved who they are.
  proved_at timestamptz not null,
  ip text not null,
  user_agent text,
  -- What a passkey is to sign next, and what for.
  challenge text,
  challenge_for text,
  challenge_until timestamptz
);
create index sessions_by_person on sessions (person_id);

-- Sign-ins that wait for their second step; of nobody yet where a passkey is to say who it is.
create table sign_ins (
  token_hash bytea primary key,
  person_id uuid references people (id),
  challenge text,
  created_at timestamptz not null
);
create index sign_ins_by_age on sign_ins (created_at);

-- Browsers that somebody signed in with before: what others guess elsewhere does not slow them down.
create table known_browsers (
  token_hash bytea primary key,
  person_id uuid not null references people (id),
  last_used_at timestamptz not null
);
create index known_browsers_by_person on known_browsers (person_id);

create table passkeys (
  id uuid primary key,
  person_id uuid not null references people (id),
  name text not null,
  -- Base64url, as WebAuthn writes it.
  credential_id text not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_by_person on passkeys (person_id);

create table recovery_codes (
  person_id uuid not null references people (id),
  code_hash bytea not null,
  used_at timestamptz,
  primary key (person_id, code_hash)
);

-- Who changed what, in the change's own transaction. Nothing in it refers to what may go.
create table audit_log (
  id uuid primary key,
  at timestamptz not null,
  actor_kind text not null check (actor_kind in ('person', 'command', 'key', 'service')),
  actor_id uuid,
  actor_name text not null,
  action text not null,
  project_id uuid,
  subject_kind text not null,
  subject_id text,
  before jsonb,
  after jsonb,
  ip text,
  request_id text
);
create index audit_log_by_project on audit_log (project_id, id);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'The audit log is append-only.' using errcode = 'restrict_violation';
end $$;
create trigger audit_log_is_append_only before update or delete on audit_log
  for each row execute function refuse_audit_change();
create trigger audit_log_is_not_emptied before truncate on audit_log
  for each statement execute function refuse_audit_change();
