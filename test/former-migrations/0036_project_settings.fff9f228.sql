-- What a payment gets whose creation leaves it out; null: what the service itself takes. The currency is chosen in the dashboard's
-- form, for the APIs require it.
alter table projects
  add column default_expiry_minutes integer,
  add column default_currency text,
  add column default_success_url text;
