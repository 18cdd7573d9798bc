-- How far the time of test payments was moved ahead of the clock, for the next call that moves it. Nothing else reads it.
create table advanced_payments (
  payment_id uuid primary key references payments (id),
  advanced_to timestamptz not null
);
