-- Cashiers use the till and nothing else.
alter table memberships
  drop constraint memberships_role_check,
  add constraint memberships_role_check
    check (role in ('owner', 'admin', 'developer', 'support', 'viewer', 'cashier'));
alter table required_factors
  drop constraint required_factors_role_check,
  add constraint required_factors_role_check
    check (role in ('owner', 'admin', 'developer', 'support', 'viewer', 'cashier'));

-- When a payment counts as paid at the till, and whether the till offers tips; null: nothing was chosen yet.
alter table projects add column till jsonb;

-- A sign that an unmined transaction may never be mined; null: none, or nobody looked for one.
alter table transfers add column doubt text;

-- The payments that people made at the till.
create table till_sales (
  payment_id uuid primary key references payments (id),
  project_id uuid not null references projects (id),
  mode text not null check (mode in ('test', 'live')),
  person_id uuid not null references people (id),
  -- The part of the amount that is a tip, in the minor units of its currency.
  tip_minor bigint not null,
  created_at timestamptz not null
);
create index till_sales_by_person on till_sales (person_id, project_id, mode, created_at);
