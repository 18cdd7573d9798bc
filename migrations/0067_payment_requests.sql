-- Requests for money that live for weeks and make an invoice when somebody pays.
create table payment_requests (
  id uuid primary key,
  project_id uuid not null references projects (id),
  mode text not null check (mode in ('test', 'live')),
  -- "open" takes payments; "paid" has all that it asked for; "closed" was ended by hand, "expired" by its date.
  status text not null check (status in ('open', 'paid', 'closed', 'expired')),
  title text not null,
  description text,
  reference text,
  -- Null: the payer types it, within the bounds.
  amount_minor bigint,
  min_amount_minor bigint,
  max_amount_minor bigint,
  currency text not null,
  -- Null: as often as people like.
  max_payments integer,
  coins jsonb,
  success_url text,
  ask_email boolean not null,
  ask_name boolean not null,
  ask_note boolean not null,
  metadata jsonb,
  created_at timestamptz not null,
  expires_at timestamptz,
  ended_at timestamptz,
  -- What its invoices held when its last event was made; the present sums are read from them.
  told_minor bigint not null,
  told_payments integer not null,
  last_sequence integer not null,
  -- When a worker is to look at it: an invoice changed, or it expires.
  due_at timestamptz
);
create index payment_requests_by_project on payment_requests (project_id, mode, id);
create index payment_requests_due on payment_requests (due_at) where due_at is not null;
alter table payments add column payment_request_id uuid;
create index payments_by_request on payments (payment_request_id) where payment_request_id is not null;
