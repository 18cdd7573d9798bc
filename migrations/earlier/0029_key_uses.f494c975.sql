create index audit_log_by_kind on audit_log (actor_kind, id);
create function audit_group(action text) returns text language sql immutable parallel safe
  return case when split_part(action, '.', 1) in ('totp', 'passkey', 'recovery_codes') then 'person' else split_part(action, '.', 1) end;
create index audit_log_by_group on audit_log (audit_group(action), id);
