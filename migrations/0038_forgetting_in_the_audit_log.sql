-- The audit log stays append-only but for one change: a text that may name a customer becomes "(deleted)". Entries of
-- before were made with the reasons of refunds, with labels and with what views and exports searched for.

-- Whether values differ only in texts of customers, each replaced by the mark.
create function audit_forgets(action text, before jsonb, after jsonb) returns boolean language sql immutable as $$
  select before is not distinct from after or (
    before is not null and after is not null and not exists (
      select from jsonb_each(before) as was full join jsonb_each(after) as now using (key)
      where was.value is distinct from now.value and not coalesce(
        now.value = '"(deleted)"' and jsonb_typeof(was.value) = 'string' and (
          (action like 'refund.%' and key = 'reason')
          or (action in ('payment.label', 'payment.label_remove') and key = 'label')
          or (action like 'view.%' and key in ('name', 'query'))
          or (action like '%.export' and key in ('label', 'search'))
        ), false)))
$$;

create or replace function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_level = 'ROW' and tg_op = 'UPDATE' then
    if (to_jsonb(new) - 'before' - 'after') = (to_jsonb(old) - 'before' - 'after')
      and (new.before, new.after) is distinct from (old.before, old.after)
      and audit_forgets(old.action, old.before, new.before) and audit_forgets(old.action, old.after, new.after)
    then
      return new;
    end if;
  end if;
  raise exception 'The audit log is append-only.' using errcode = 'restrict_violation';
end $$;
