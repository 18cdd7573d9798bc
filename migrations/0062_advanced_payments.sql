-- How far the time of test payments was moved ahead of the clock, for the next call that moves it. Nothing else reads it.
create table advanced_payments (
  payment_id uuid primary key references payments (id),
  -- Null until a call has ended.
  advanced_to timestamptz,
  -- The end of the lease of the call that moves it now; null while there is none.
  held_until timestamptz
);
