-- How a project's payment page looks: its accent colour, where its customers find help, its logo.

-- Lower case, without the number sign.
alter table projects add column accent text check (accent ~ '^[0-9a-f]{6}$');
alter table projects add column support_url text;

-- Apart from the projects, which are read for every page: the bytes are wanted once by each browser. Sides in CSS pixels.
create table project_logos (
  project_id uuid primary key references projects (id),
  hash text not null check (hash ~ '^[0-9a-f]{64}$'),
  type text not null check (type in ('image/png', 'image/jpeg', 'image/webp')),
  width integer not null,
  height integer not null,
  bytes bytea not null check (octet_length(bytes) <= 65536)
);
-- Two projects may have the same logo.
create index project_logos_by_hash on project_logos (hash);
