-- Native coins that left an address, by block: so that what a contract pays is seen also where money leaves in the same blocks.
-- 'taken': they left in this block. 'missing': they were found missing after it, and left in it or before. 'open': no node could
-- say what came and left in this block; the units are the least that left.
create table coin_outflows (
  network text not null,
  address text not null,
  block_height integer not null,
  units numeric(78, 0) not null check (units >= 0),
  state text not null check (state in ('taken', 'missing', 'open')),
  primary key (network, address, block_height)
);
create index coin_outflows_by_height on coin_outflows (network, block_height);
create index coin_outflows_open on coin_outflows (network) where state = 'open';

-- payment_addresses.spent_units said the same without a block; only processes of an earlier version still write it.
insert into coin_outflows (network, address, block_height, units, state)
select a.network, a.address, c.height, a.spent_units, 'missing'
from payment_addresses a join chain_cursors c on c.network = a.network
where a.spent_units > 0;
