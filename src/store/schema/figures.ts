import type { Mode } from '../../domain/permission.ts';
import type { PaymentStatus } from '../../domain/status.ts';
import { bigint, integer, integers, json, nullable, smallint, text, timestamp, uuid } from './column.ts';

/** Sums of payments by the time of their creation; see `store/figures/figure-slots.ts`. */
export const PAYMENT_FIGURES = {
  project_id: uuid(),
  mode: text<Mode>(),
  minutes: smallint<15 | 60>(),
  at: timestamp(),
  status: text<PaymentStatus>(),
  network: text(),
  asset: text(),
  currency: text(),
  payments: integer(),
  usd_cents: bigint(),
  amount_minor: bigint(),
};

export const COMPLETION_TIMES = {
  project_id: uuid(),
  mode: text<Mode>(),
  minutes: smallint<15 | 1440>(),
  at: timestamp(),
  network: text(),
  asset: text(),
  classes: integers(),
  payments: integers(),
};

export const FIGURES_PROGRESS = {
  id: smallint(),
  closed_until: nullable(timestamp()),
  taken_in: nullable(bigint()),
  newest: nullable(bigint()),
  ended_before: nullable(bigint()),
};

/** USD for one unit of each currency, times 10^8, as text; by hour. */
export const CURRENCY_RATES = {
  mode: text<Mode>(),
  hour: timestamp(),
  prices: json<Readonly<Record<string, string>>>(),
};

/** People's marks on items that need attention. */
export const ATTENTION_MARKS = {
  project_id: uuid(),
  mode: text<Mode>(),
  kind: text(),
  subject: text(),
  occurrence: text(),
  assigned_to: nullable(uuid()),
  note: nullable(text()),
  done_at: nullable(timestamp()),
  done_by: nullable(uuid()),
  version: integer(),
  changed_at: timestamp(),
};
