-- Retries that are under way end; their deliveries stay due.
truncate retried_deliveries, delivery_retries;
alter table retried_deliveries
  drop column attempts,
  add column attempted boolean not null;
create index retried_deliveries_unattempted on retried_deliveries (delivery_id) where not attempted;
