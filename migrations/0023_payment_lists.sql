-- The list of both APIs' payments: filters that are not those of the APIs' own lists, and what people look for. Built beside the
-- writers of a filled database (docs/decisions/0107): one that is half built when the upgrade is stopped is built anew.

-- What is unusual is rare, and never so when it is created.
drop index concurrently if exists payments_by_exception;
create index concurrently payments_by_exception on payments (project_id, mode, exception, id) where exception <> 'none';

drop index concurrently if exists payments_by_token;
create index concurrently payments_by_token on payments (project_id, mode, network, asset, id) where network is not null;

drop index concurrently if exists payments_by_order_id;
create index concurrently payments_by_order_id on payments (project_id, mode, merchant_order_id, id)
  where merchant_order_id is not null;

drop index concurrently if exists payments_by_email;
create index concurrently payments_by_email on payments (project_id, mode, lower(customer_email), id)
  where customer_email is not null;

-- What became of an event at each endpoint.
drop index concurrently if exists deliveries_by_event;
create index concurrently deliveries_by_event on deliveries (event_id);

-- Who did what to a payment.
drop index concurrently if exists audit_log_by_subject;
create index concurrently audit_log_by_subject on audit_log (subject_kind, subject_id, id) where subject_id is not null;
