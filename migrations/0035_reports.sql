-- What money was worth at the moment it came and at the moment it was paid back: in the payment's currency, in its smallest unit, and
-- in US cents. Kept when it happens, and never made up later: null is unknown.
alter table transfers add column receipt_minor bigint;
alter table transfers add column receipt_usd_cents bigint;
alter table refunds add column disposal_minor bigint;
alter table refunds add column disposal_usd_cents bigint;

-- Reports ask for what came in a period. Rows lie nearly in the order of their time, so this is a few pages and costs writers next to
-- nothing.
create index transfers_by_time on transfers using brin (first_seen_at) with (autosummarize = on);
