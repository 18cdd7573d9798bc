-- The coins in which customers can pay a project, each as ASSET/network: the order in which they are offered (empty: the usual
-- one), and those that are switched off.
alter table projects
  add column coin_order text[] not null default '{}',
  add column coins_off text[] not null default '{}';

-- Every time payments of a project began to go to another wallet. Each needs the attention of its owners until it is marked.
create table wallet_changes (
  id uuid primary key,
  project_id uuid not null references projects (id),
  network text not null,
  changed_at timestamptz not null,
  actor_kind text not null,
  actor_name text not null,
  -- The kind and both ends of the key, descriptor or address; null: there was none.
  before text,
  after text not null
);
create index wallet_changes_by_project on wallet_changes (project_id, id);
