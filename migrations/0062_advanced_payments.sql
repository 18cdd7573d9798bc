-- How far the time of test payments was moved ahead of the clock. The sandbox alone reads it.
create table advanced_payments (
  payment_id uuid primary key references payments (id),
  -- By the last call, and by any: null until a call has ended.
  advanced_to timestamptz,
  farthest timestamptz,
  -- The end of the lease of the call that moves it now; null while there is none.
  held_until timestamptz
);
