-- What currencies were worth in each hour: USD for one unit, times 10^8, by code. Figures of a project that counts in another currency
-- are converted at the rate of the hour in which the money was asked for, came or went. Kept when the hour is, and never made up later.
create table currency_rates (
  mode text not null,
  hour timestamptz not null,
  prices jsonb not null,
  primary key (mode, hour)
);

-- Weekly summaries that wait to be sent say which currency they are in; earlier versions wrote US cents.
update mails set content = jsonb_set(content, '{projects}', (
    select jsonb_agg(project || jsonb_build_object('currency', 'USD', 'minor', project -> 'usdCents'))
    from jsonb_array_elements(content -> 'projects') project))
where outcome is null and content ->> 'kind' = 'weekly';
