-- Figures are made anew from the payments.
truncate payment_figures, completion_times;
alter table payment_figures drop constraint payment_figures_minutes_check;
alter table completion_times drop constraint completion_times_minutes_check;
drop table figures_progress;
create table figures_progress (
  id smallint primary key,
  closed_until timestamptz,
  taken_in bigint,
  newest bigint,
  ended_before bigint
);
