alter table projects add column monitoring_hours integer check (monitoring_hours > 0);
