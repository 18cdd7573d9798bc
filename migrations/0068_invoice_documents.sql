-- What a project prints on its invoices.
create table invoice_settings (
  project_id uuid primary key references projects (id),
  -- The beginning of each number.
  prefix text not null,
  seller_lines text[] not null,
  seller_tax_id text,
  -- What the form of a new invoice begins with: hundredths of a percent, and days.
  vat_rate integer not null,
  due_days integer not null,
  -- Whether customers are reminded by mail.
  reminds boolean not null
);

-- The last number of each year. It grows in the transaction that takes the number, so that no number is missing.
create table invoice_counters (
  project_id uuid not null references projects (id),
  mode text not null check (mode in ('test', 'live')),
  year integer not null,
  last integer not null,
  primary key (project_id, mode, year)
);

-- Invoices as they were issued, each of one payment request.
create table invoice_documents (
  payment_request_id uuid primary key references payment_requests (id),
  project_id uuid not null references projects (id),
  mode text not null check (mode in ('test', 'live')),
  year integer not null,
  counter integer not null,
  number text not null,
  language text not null,
  -- Parties, dates and items: never changed.
  content jsonb not null,
  -- The buyer's address for mails; the deletion of customers' data clears it.
  email text,
  created_at timestamptz not null,
  -- When the buyer is reminded next; null: never again.
  reminds_at timestamptz,
  unique (project_id, mode, year, counter)
);
create index invoice_documents_by_email on invoice_documents (project_id, lower(email)) where email is not null;
create index invoice_documents_to_remind on invoice_documents (reminds_at) where reminds_at is not null;

-- Each is rendered once: a later one could look otherwise, with another logo.
create table invoice_pdfs (
  payment_request_id uuid not null references invoice_documents (payment_request_id),
  kind text not null check (kind in ('invoice', 'receipt')),
  bytes bytea not null,
  primary key (payment_request_id, kind)
);
-- PDFs are compressed.
alter table invoice_pdfs alter column bytes set storage external;

-- Mails about an invoice have its payment request in place of a person or a payment.
alter table mails add column payment_request_id uuid references payment_requests (id);
create unique index mails_by_payment_request on mails (payment_request_id, occasion) where payment_request_id is not null;
