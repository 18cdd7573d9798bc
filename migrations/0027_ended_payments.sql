-- What is looked up in the dashboard alone stands in an index once a payment has ended. Creating one and each of its changes
-- write to none of these; those that have not ended are few, and found by their status (docs/decisions/0153). The new indexes
-- are built before the old ones go, beside the writers of a filled database (docs/decisions/0107).

drop index concurrently if exists payments_ended_by_token;
create index concurrently payments_ended_by_token on payments (project_id, mode, network, asset, id)
  where network is not null and status in ('completed', 'failed', 'expired', 'cancelled');
drop index concurrently if exists payments_by_token;

drop index concurrently if exists payments_ended_by_order_id;
create index concurrently payments_ended_by_order_id on payments (project_id, mode, merchant_order_id, id)
  where merchant_order_id is not null and status in ('completed', 'failed', 'expired', 'cancelled');
drop index concurrently if exists payments_by_order_id;

drop index concurrently if exists payments_ended_by_email;
create index concurrently payments_ended_by_email on payments (project_id, mode, lower(customer_email), id)
  where customer_email is not null and status in ('completed', 'failed', 'expired', 'cancelled');
drop index concurrently if exists payments_by_email;

drop index concurrently if exists payments_ended_by_description;
create index concurrently payments_ended_by_description
  on payments (project_id, mode, lower(left(description, 32)) text_pattern_ops, id)
  where description is not null and status in ('completed', 'failed', 'expired', 'cancelled');
drop index concurrently if exists payments_by_description;

drop index concurrently if exists payments_ended_by_amount;
create index concurrently payments_ended_by_amount
  on payments (project_id, mode, currency, (length(amount_minor::text) * 100 + left(amount_minor::text, 2)::integer), id)
  include (amount_minor) where status in ('completed', 'failed', 'expired', 'cancelled');
drop index concurrently if exists payments_by_amount;

drop index concurrently if exists payments_ended_by_test_address;
create index concurrently payments_ended_by_test_address on payments using hash (lower(address))
  where mode = 'test' and address is not null and status in ('completed', 'failed', 'expired', 'cancelled');
drop index concurrently if exists payments_by_test_address;

drop index concurrently if exists payments_ended_by_test_hash;
create index concurrently payments_ended_by_test_hash on payments using hash (transaction_hash)
  where mode = 'test' and transaction_hash is not null and status in ('completed', 'failed', 'expired', 'cancelled');
drop index concurrently if exists payments_by_test_hash;
