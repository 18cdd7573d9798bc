-- The format of what an endpoint gets. Null: ours.
alter table webhook_endpoints add column format text;

-- A message was given up for a newer one about the same invoice. Not validated: each existing row passed the narrower check.
alter table deliveries drop constraint deliveries_state_check,
  add constraint deliveries_state_check check (state in ('waiting', 'delivered', 'failed', 'stopped', 'overtaken')) not valid;

-- Messages about one invoice reach an endpoint one after the other. A row for each that is not finished: the oldest one has its next
-- attempt, and the others wait for it without one.
create table message_queue (
  endpoint_id uuid not null,
  payment_id uuid not null,
  delivery_id bigint not null,
  primary key (endpoint_id, payment_id, delivery_id)
);
create unique index message_queue_by_delivery on message_queue (delivery_id);
