import { Type, type Static } from 'typebox';
import { EXPORT_COLUMNS, type ExportColumn } from '../../../domain/export-column.ts';
import { oneOf, text } from '../../fields.ts';
import { paymentFilters } from './payment-filters.ts';
import type { Contracts } from './route.ts';
import { modeParams } from './shape.ts';

export type { ExportColumn };

const exportShape = Type.Object({
  ...paymentFilters,
  format: Type.Optional(oneOf(['csv', 'jsonl'])),
  /** Of a CSV file. Spreadsheets of countries that write 1,5 take semicolons. */
  separator: Type.Optional(oneOf(['comma', 'semicolon'])),
  /** The usual ones where there are none. The file has them in its own order. */
  columns: Type.Optional(Type.Array(oneOf(EXPORT_COLUMNS), { maxItems: EXPORT_COLUMNS.length })),
  /** IANA name of the time zone of a CSV file; JSON is in UTC. */
  zone: Type.Optional(text({ max: 64 })),
});
export type ExportRequest = Static<typeof exportShape>;

export const exportContract = {
  /**
   * A file of all payments that the filters mean, newest first, as they are at one moment. `x-rows-about` says
   * about how many it has, where that is known. 503 while no place is free for another.
   */
  'POST /dashboard/api/projects/:project/:mode/payments/export': {
    params: modeParams,
    body: exportShape,
    answer: Type.String(),
  },
} as const satisfies Contracts;
