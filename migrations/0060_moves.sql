-- Moves of this database to another one, or from another one. A row that is not "arrived" closes the database: its addresses and
-- numbers continue in the other one.
create table moves (
  id uuid primary key,
  -- "moving": the new database may count already, which its folder tells; "moved": it counts; "arrived": this is the new database.
  stage text not null check (stage in ('moving', 'moved', 'arrived')),
  -- The other database: a folder, or a URL without a password.
  place text not null,
  -- The folder of the new database before it got its name.
  unfinished text,
  at timestamptz not null
);
