-- What a shop's plugin sent with an invoice, as JSON texts that are given back as they came.
alter table payments add column if not exists shop_metadata text;
alter table payments add column if not exists shop_checkout text;
-- Whether the merchant ended it: accepted, completed or cancelled by hand. Null means no.
alter table payments add column if not exists ended_by_hand boolean;
-- Finds the invoices of a shop's order, for plugins that look for them and for refunds that name the order alone. Built beside the
-- writers of a filled database (docs/decisions/0107): one that is half built is built anew.
drop index concurrently if exists payments_invoices_by_order;
create index concurrently payments_invoices_by_order on payments (project_id, mode, merchant_order_id, id)
  where surface = 'invoice' and merchant_order_id is not null;
