-- The refunds of a project, newest first: all of them, those of one status, and those of one token.
drop index concurrently if exists refunds_by_id;
create index concurrently refunds_by_id on refunds (project_id, mode, id desc);
drop index concurrently if exists refunds_by_status;
create index concurrently refunds_by_status on refunds (project_id, mode, status, id desc);
drop index concurrently if exists refunds_by_token;
create index concurrently refunds_by_token on refunds (project_id, mode, network, asset, id desc);

-- Whether a block had the payout before a reorganisation took it back; without it, the payout never left the mempool.
alter table waiting_payouts add column if not exists was_mined boolean not null default false;
