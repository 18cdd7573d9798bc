-- Whether and how a project mails its customers; a project without a row does not.
create table project_customer_mails (
  project_id uuid primary key references projects (id),
  is_on boolean not null,
  -- Mails are about what happened since.
  since timestamptz not null,
  -- The sender's address, and where replies go; null: MAIL_FROM.
  from_address text,
  reply_to text,
  -- The language of customers whose language is unknown.
  language text not null
);

-- The language in which a customer last saw the page of a payment; only of projects that mail their customers.
create table payment_languages (
  payment_id uuid primary key references payments (id),
  language text not null
);

-- Mails to customers have a payment in place of a person. The address is the payment's when the mail is sent.
alter table mails alter column person_id drop not null;
alter table mails add column payment_id uuid references payments (id);
create unique index mails_by_payment on mails (payment_id, occasion) where payment_id is not null;

-- The customers who want no more mails about payments of a project, by the SHA-256 of project and address.
create table customer_refusals (
  project_id uuid not null references projects (id),
  email_hash bytea not null,
  refused_at timestamptz not null,
  primary key (project_id, email_hash)
);

-- The links of mails by which customers refuse more. Of each token only the SHA-256 is kept.
create table customer_refusal_links (
  token_hash bytea primary key,
  project_id uuid not null references projects (id),
  email_hash bytea not null,
  created_at timestamptz not null
);
create index customer_refusal_links_by_age on customer_refusal_links (created_at);
