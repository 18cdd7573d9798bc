-- Quotes that a payment got again on an address that it already had, and where in its block a transfer is.

-- The quote that an address was handed out for is in payment_addresses; each later one for the same address is here.
-- Money that comes to the address may be meant for any of them.
create table payment_quotes (
  id bigint generated always as identity primary key,
  payment_id uuid not null,
  network text not null,
  -- As in payment_addresses: in the form in which the chain's transfers carry it.
  address text not null,
  asset text not null,
  decimals smallint not null,
  owed_units numeric(78, 0) not null,
  tolerance_units numeric(78, 0) not null,
  quoted_at timestamptz not null
);
create index payment_quotes_by_payment on payment_quotes (payment_id);
create index payment_quotes_by_address on payment_quotes (network, address);

-- The place among its block's transfers; null where the block does not list it. Tells which of several came first.
alter table transfers add column block_position integer;

-- A wallet by what names it: projects and settings that share one share its addresses.
create index wallets_by_first_address on wallets (network, first_address);
