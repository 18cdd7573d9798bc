-- When a key was last used, to the minute. A key that was rolled stops working at `ends_at`; another took its place.
alter table api_keys
  add column last_used_at timestamptz,
  add column ends_at timestamptz,
  add column successor_id uuid references api_keys (id);

-- Where keys were used from lately: of secret keys the client's address, of public ones the origin of the page. Written once in
-- a while for all requests since, not at each.
create table api_key_clients (
  key_id uuid not null references api_keys (id),
  -- Empty for clients beyond those that are told apart, and for public keys outside of pages.
  client text not null,
  user_agent text,
  requests bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- When the key was last let in from there, and when the allow-list last refused it; null: never.
  last_used_at timestamptz,
  last_refused_at timestamptz,
  primary key (key_id, client)
);
create index api_key_clients_by_age on api_key_clients (last_seen_at);

-- Who made, rolled and revoked a key.
create index audit_log_of_keys on audit_log (subject_id) where subject_kind = 'key';
-- What one person did, newest first.
create index audit_log_by_actor on audit_log (actor_id, id);
