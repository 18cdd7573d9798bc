-- Notes of people about a payment. `version` counts the edits: an edit of another version is refused.
create table payment_notes (
  id uuid primary key,
  payment_id uuid not null references payments (id),
  author_id uuid not null references people (id),
  -- The author's e-mail address when it was written.
  author_name text not null,
  body text not null,
  version integer not null,
  created_at timestamptz not null,
  edited_at timestamptz
);
create index payment_notes_by_payment on payment_notes (payment_id, id);

-- The labels of a project, shared by both modes. A label without payments is deleted.
create table labels (
  id uuid primary key,
  project_id uuid not null references projects (id),
  name text not null,
  created_at timestamptz not null
);
create unique index labels_by_name on labels (project_id, lower(name));

create table payment_labels (
  payment_id uuid not null references payments (id),
  label_id uuid not null references labels (id),
  -- The payment's mode, so that a list of one mode reads no rows of the other.
  mode text not null check (mode in ('test', 'live')),
  primary key (payment_id, label_id)
);
create index payment_labels_by_label on payment_labels (label_id, mode, payment_id);
