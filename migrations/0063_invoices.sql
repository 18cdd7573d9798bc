-- Invoices: payments beside orders and transactions whose customer chooses the coin, out of `coins` if it is set.
alter table payments add column coins jsonb;
-- Not validated: each existing row passed the narrower check.
alter table payments drop constraint payments_surface_check,
  add constraint payments_surface_check check (surface in ('transaction', 'order', 'invoice')) not valid;
