-- Backups that were made of this database, and those that failed: when the last good one began is what an alert stands on.
create table backups (
  started_at timestamptz primary key,
  finished_at timestamptz not null,
  -- Null where it failed, or went into a stream.
  file text,
  bytes bigint,
  -- Why it failed; null: it is good.
  problem text
);
