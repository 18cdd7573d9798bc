-- The name under which colleagues know a person; null: the e-mail alone.
alter table people add column if not exists name text;

-- The roles whose holders must have a second factor, in one project or in all.
create table if not exists required_factors (
  role text primary key check (role in ('owner', 'admin', 'developer', 'support', 'viewer'))
);
