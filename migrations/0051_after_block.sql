-- The hash of the block up to which the chain was read when an address was handed out: only what comes after it is the
-- payment's. Null: it is not known.
alter table payment_addresses add column if not exists after_block text;

-- 'before': native coins that lay on the address already, as units below zero, so that the sum of a row's units is what
-- has left of all that came to the payment.
alter table coin_outflows
  drop constraint coin_outflows_units_check,
  drop constraint coin_outflows_state_check,
  add constraint coin_outflows_units_check check (units >= 0 or state = 'before') not valid,
  add constraint coin_outflows_state_check check (state in ('taken', 'missing', 'open', 'before')) not valid;
