import { Type, type Static } from 'typebox';
import { ASSET_CODES } from '../../../domain/asset-code.ts';
import { FIATS } from '../../../domain/money.ts';
import { NETWORKS } from '../../../domain/networks.ts';
import { BOOKING_FORMATS, BOOKING_KINDS } from '../../../domain/bookkeeping.ts';
import { PERIODS, REPORTS } from '../../../domain/report.ts';
import type { StatementRecord } from '../../../wire/books.ts';
import { oneOf, text, nullable, time } from '../../fields.ts';
import { type Contracts, modeParams, writing } from '../contract-parts.ts';

export { PERIODS, REPORTS };
export type { StatementRecord };

/** A named period, or both of `from` and `to`, whole days of `zone`, UTC by default; the last month by default. */
const days = {
  period: Type.Optional(oneOf(PERIODS)),
  from: Type.Optional(text({ max: 10 })),
  to: Type.Optional(text({ max: 10 })),
  zone: Type.Optional(text({ max: 64 })),
};
const daysShape = Type.Object(days);
export type AskedDays = Static<typeof daysShape>;

const selection = {
  ...days,
  /** `bookings`: the money received and refunded, as files for accounting software. */
  report: oneOf([...REPORTS, 'bookings']),
  /** Both or neither: limits the report to one token. */
  coin: Type.Optional(oneOf(ASSET_CODES)),
  network: Type.Optional(oneOf(NETWORKS)),
};

const exportShape = Type.Object({
  ...selection,
  ...writing,
  /** `datev` and `xero` are the formats of bookings, and of nothing else. */
  format: Type.Optional(oneOf(['csv', 'jsonl', ...BOOKING_FORMATS])),
});
export type ReportExportRequest = Static<typeof exportShape>;

const previewShape = Type.Object({
  /** The first and the last day, and when they begin and end; `until` is exclusive. */
  from_day: Type.String(),
  to_day: Type.String(),
  zone: Type.String(),
  from: time(),
  until: time(),
  currency: oneOf(FIATS),
  /** Sums by token; null if computing them takes too long. `coin` is null for payments without a token. */
  totals: nullable(
    Type.Array(
      Type.Object({
        /** The kind of bookings; null in other reports. Refunds and fees are negative. */
        kind: nullable(oneOf(BOOKING_KINDS)),
        coin: nullable(Type.String()),
        network: nullable(Type.String()),
        rows: Type.Integer(),
        /** Exact decimal. */
        amount: Type.String(),
        /**
         * The value in `currency` at receipt or disposal, or of payments at creation; and the number of rows without a
         * known value.
         */
        value: Type.String(),
        unknown: Type.Integer(),
      }),
    ),
  ),
  /** Movements that a file of bookings cannot have, the first of them by name. */
  left_out: Type.Object({
    count: Type.Integer(),
    rows: Type.Array(
      Type.Object({
        /** The payment, or the sweep of a fee. */
        id: Type.String(),
        kind: oneOf(BOOKING_KINDS),
        day: Type.String(),
        amount: Type.String(),
        coin: Type.String(),
        why: oneOf(['no_value', 'too_small']),
      }),
    ),
  }),
  /** The tokens to choose from. */
  tokens: Type.Array(Type.Object({ coin: Type.String(), network: Type.String() })),
});
export type ReportPreview = Static<typeof previewShape>;

export const reportsContract = {
  'GET /dashboard/api/projects/:project/:mode/reports': {
    params: modeParams,
    query: Type.Object({ ...selection, format: Type.Optional(oneOf(BOOKING_FORMATS)) }),
    answer: previewShape,
  },
  /** An export of a report, from one snapshot. 503 while no slot for exports is free. */
  'POST /dashboard/api/projects/:project/:mode/reports/export': {
    params: modeParams,
    body: exportShape,
    answer: Type.String(),
  },
  /**
   * The reconciled statement of a period, as JSON lines: `{"step"}` before each step, then `{"statement"}`, or
   * `{"busy"}` while another statement of the project is being made.
   */
  'POST /dashboard/api/projects/:project/:mode/reports/statement': {
    params: modeParams,
    body: daysShape,
    answer: Type.String(),
  },
} as const satisfies Contracts;
