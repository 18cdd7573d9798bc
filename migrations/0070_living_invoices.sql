-- Finds the invoices of a payment request that can be paid or are being paid, however many it has had: its page and each "Pay" look for
-- them. Built beside the writers of a filled database (docs/decisions/0107): one that is half built is built anew.
drop index concurrently if exists payments_living_by_request;
create index concurrently payments_living_by_request on payments (payment_request_id, id)
  where payment_request_id is not null and status not in ('completed', 'failed', 'expired', 'cancelled');
-- The deletion of customers' data clears the events of their requests, which belong to no payment.
drop index concurrently if exists events_of_requests;
create index concurrently events_of_requests on events (project_id) where payment_id is null and type like 'payment_request.%';
