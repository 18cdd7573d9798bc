-- Finds the payments of a customer by the e-mail address in any case, and the addresses in their order. As the other lookups of the
-- dashboard, it holds payments that have ended, so that creating one and each of its changes write nothing (docs/decisions/0153).
-- Built beside the writers of a filled database (docs/decisions/0107): one that is half built is built anew.
drop index concurrently if exists payments_ended_by_customer;
create index concurrently payments_ended_by_customer on payments (project_id, mode, lower(customer_email) collate "C", id)
  where customer_email is not null and status in ('completed', 'failed', 'expired', 'cancelled');
