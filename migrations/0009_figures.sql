-- The counters of the last days, for metrics, without reading those of every project and year.
create index payment_day_counts_by_day on payment_day_counts (day);
