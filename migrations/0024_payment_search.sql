-- Lists by amount, search by a description's beginning, and by the addresses and hashes of test payments, which are in no other
-- table. Built beside the writers of a filled database (docs/decisions/0107): one that is half built is built anew.

-- The number of an amount's digits and the first two of them: a range of amounts is a few of these, each newest first. The
-- amount itself spares reading the payments of a step that are not in the range.
drop index concurrently if exists payments_by_amount;
create index concurrently payments_by_amount
  on payments (project_id, mode, currency, (length(amount_minor::text) * 100 + left(amount_minor::text, 2)::integer), id)
  include (amount_minor);

drop index concurrently if exists payments_by_description;
create index concurrently payments_by_description
  on payments (project_id, mode, lower(left(description, 32)) text_pattern_ops, id)
  where description is not null;

-- What the sandbox makes up is found by equality alone: hashes of texts take a fifth of their space.
drop index concurrently if exists payments_by_test_address;
create index concurrently payments_by_test_address on payments using hash (lower(address))
  where mode = 'test' and address is not null;

drop index concurrently if exists payments_by_test_hash;
create index concurrently payments_by_test_hash on payments using hash (transaction_hash)
  where mode = 'test' and transaction_hash is not null;

drop index concurrently if exists refunds_by_hash;
create index concurrently refunds_by_hash on refunds using hash (transaction_hash) where transaction_hash is not null;

-- Filters and columns of the list under a name. Shared ones are seen by everybody who sees the project's payments.
create table if not exists saved_views (
  id uuid primary key,
  project_id uuid not null references projects (id),
  person_id uuid not null references people (id),
  name text not null,
  -- As it stands in the address of the list.
  query text not null,
  shared boolean not null,
  -- Rises with each change, so that nobody overwrites what they have not seen.
  version integer not null,
  created_at timestamptz not null,
  changed_at timestamptz not null
);
drop index concurrently if exists saved_views_by_project;
create index concurrently saved_views_by_project on saved_views (project_id, person_id);
