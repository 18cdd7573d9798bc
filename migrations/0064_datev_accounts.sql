-- The numbers and accounts of a project's DATEV files; null: not entered yet.
alter table projects add column datev jsonb;
