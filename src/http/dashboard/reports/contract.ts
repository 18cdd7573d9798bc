import { Type, type Static } from 'typebox';
import { ASSET_CODES } from '../../../domain/asset-code.ts';
import { NETWORKS } from '../../../domain/networks.ts';
import { PERIODS, REPORTS } from '../../../domain/report.ts';
import type { StatementRecord } from '../../../wire/books.ts';
import { oneOf, text } from '../../fields.ts';
import { nullable, time } from '../../shapes.ts';
import { type Contracts, modeParams } from '../contract-parts.ts';

export { PERIODS, REPORTS };
export type { StatementRecord };

/** A period by name, or both of `from` and `to`, whole days of `zone`, UTC by default; the last month by default. */
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
  report: oneOf(REPORTS),
  /** Both or neither: money in one token alone. */
  coin: Type.Optional(oneOf(ASSET_CODES)),
  network: Type.Optional(oneOf(NETWORKS)),
};

const exportShape = Type.Object({
  ...selection,
  format: Type.Optional(oneOf(['csv', 'jsonl'])),
  /** Only for a CSV file. Spreadsheets of countries that write 1,5 take semicolons. */
  separator: Type.Optional(oneOf(['comma', 'semicolon'])),
});
export type ReportExportRequest = Static<typeof exportShape>;

const previewShape = Type.Object({
  /** The first day and the last one, and when they begin and end; `until` is exclusive. */
  from_day: Type.String(),
  to_day: Type.String(),
  zone: Type.String(),
  from: time(),
  until: time(),
  /** Token by token; null if adding it up takes too long. `coin` is null where a payment chose none. */
  totals: nullable(
    Type.Array(
      Type.Object({
        coin: nullable(Type.String()),
        network: nullable(Type.String()),
        rows: Type.Integer(),
        /** Exact decimal. */
        amount: Type.String(),
        /** The value at receipt or disposal, of payments at creation; and of how many rows it is unknown. */
        usd: Type.String(),
        unknown: Type.Integer(),
      }),
    ),
  ),
  /** The tokens that can be chosen. */
  tokens: Type.Array(Type.Object({ coin: Type.String(), network: Type.String() })),
});
export type ReportPreview = Static<typeof previewShape>;

export const reportsContract = {
  'GET /dashboard/api/projects/:project/:mode/reports': {
    params: modeParams,
    query: Type.Object(selection),
    answer: previewShape,
  },
  /** A file of a report, as it is at one moment. 503 while no place is free for another. */
  'POST /dashboard/api/projects/:project/:mode/reports/export': {
    params: modeParams,
    body: exportShape,
    answer: Type.String(),
  },
  /**
   * The statement of a period, reconciled, as JSON lines: `{"step"}` before each step, then `{"statement"}`, or
   * `{"busy"}` while another one of the project is made.
   */
  'POST /dashboard/api/projects/:project/:mode/reports/statement': {
    params: modeParams,
    body: daysShape,
    answer: Type.String(),
  },
} as const satisfies Contracts;
