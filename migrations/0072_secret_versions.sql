-- Tells a new secret of an endpoint from the same secret that is encrypted with another key.
alter table webhook_endpoints add column secret_version integer not null default 1;
