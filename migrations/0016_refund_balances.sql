-- What lay on the addresses of pending refunds in a network's own coin when they were last looked at: contracts pay without
-- a transaction to the address. Without a balance: a reorganisation took back the block. What it grew by at once and no node
-- could explain, if that was enough to pay the refund.
create table refund_balances (
  refund_id uuid primary key references refunds (id),
  balance_units numeric(78, 0),
  looked_height integer not null,
  grown_units numeric(78, 0),
  grown_height integer
);
