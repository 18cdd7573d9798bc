import type { Client } from 'pg';
import { encodeId } from '../../domain/id.ts';
import { fiatDecimals, formatDecimal } from '../../domain/money.ts';
import { guardedText } from '../../store/reports/export-columns.ts';
import { onConnection } from '../../store/one-connection.ts';
import { searchRefunds, type ListedRefund, type RefundSearch } from '../../store/refunds/refund-list.ts';
import { liftLimits } from '../../store/backups/snapshot.ts';
import { publicPaymentId } from '../../domain/payment-kind.ts';
import { isoTime, isoTimeOrNull } from '../../wire/time.ts';
import type { ConnectToRead } from '../../store/long-reads.ts';
import type { App } from '../context.ts';
import { openExport, withoutSearch, type OpenedExport } from './exports.ts';
import type { ProjectMode } from '../../domain/permission.ts';

/** A refund export, as it was asked for. */
export interface RefundExport {
  readonly scope: ProjectMode;
  readonly search: RefundSearch;
  readonly format: 'csv' | 'jsonl';
  readonly separator: ',' | ';';
}

/** How many refunds are read at once. */
const PAGE = 1_000;
const BYTE_ORDER_MARK = '\ufeff';

/** Opens a refund export: newest first, all from one snapshot. */
export function exportRefunds(
  app: App,
  connect: ConnectToRead,
  file: RefundExport,
  asked: Readonly<Record<string, unknown>>,
): Promise<OpenedExport> {
  const { projectId, mode } = file.scope;
  return openExport(app, connect, {
    audited: {
      action: 'refund.export',
      projectId,
      subject: { kind: 'refunds', id: null },
      after: { mode, ...withoutSearch(asked) },
    },
    copy: (client, take) => copyRefunds(client, file, take),
  });
}

async function copyRefunds(
  client: Client,
  { scope, search, format, separator }: RefundExport,
  take: (piece: Buffer) => Promise<void>,
): Promise<number> {
  const isCsv = format === 'csv';
  const mark = separator === ';' ? BYTE_ORDER_MARK : '';
  if (isCsv) await take(Buffer.from(`${mark}${COLUMNS.map(({ head }) => head).join(separator)}\n`));
  await client.query('begin isolation level repeatable read, read only');
  await liftLimits(client);
  const db = onConnection(client);
  let after: string | null = null;
  let count = 0;
  for (;;) {
    const found = await searchRefunds(db, scope, search, { after, limit: PAGE });
    const lines = found.map((one) => (isCsv ? csvLine(one, separator) : jsonLine(one)));
    if (lines.length > 0) await take(Buffer.from(`${lines.join('\n')}\n`));
    count += found.length;
    after = found.at(-1)?.refund.id ?? null;
    if (found.length < PAGE) break;
  }
  await client.query('commit');
  return count;
}

/** A column of a CSV file, and a member of a line of JSON. */
interface Column {
  readonly name: string;
  readonly head: string;
  readonly valueOf: (listed: ListedRefund) => string | null;
  /** The value is ISO 8601; a CSV file has it in the form that spreadsheets read as a time. */
  readonly isTime?: true;
}

/** The columns in the order of the file. Amounts are exact decimals. */
const COLUMNS: readonly Column[] = [
  { name: 'id', head: 'id', valueOf: ({ refund }) => encodeId('refund', refund.id) },
  { name: 'created', head: 'created (UTC)', valueOf: ({ refund }) => isoTime(refund.createdAt), isTime: true },
  { name: 'stage', head: 'state', valueOf: ({ stage }) => stage },
  {
    name: 'payment',
    head: 'payment',
    valueOf: ({ refund }) => publicPaymentId({ id: refund.paymentId, api: refund.paymentApi }),
  },
  { name: 'order_id', head: 'order id', valueOf: ({ paymentName }) => paymentName },
  { name: 'coin_amount', head: 'coin amount', valueOf: ({ refund }) => formatDecimal(refund.units, refund.decimals) },
  { name: 'coin', head: 'coin', valueOf: ({ refund }) => refund.asset },
  { name: 'network', head: 'network', valueOf: ({ refund }) => refund.network },
  {
    name: 'amount',
    head: 'amount',
    valueOf: ({ refund }) => formatDecimal(refund.amountMinor, fiatDecimals(refund.currency)),
  },
  { name: 'currency', head: 'currency', valueOf: ({ refund }) => refund.currency },
  { name: 'address', head: 'address', valueOf: ({ refund }) => refund.address },
  {
    name: 'transaction_hash',
    head: 'transaction hash',
    valueOf: ({ refund, stage, payout }) =>
      refund.transactionHash ?? (stage === 'seen' ? (payout?.transactionHash ?? null) : null),
  },
  {
    name: 'completed',
    head: 'completed (UTC)',
    valueOf: ({ refund }) => isoTimeOrNull(refund.completedAt),
    isTime: true,
  },
  { name: 'reason', head: 'reason', valueOf: ({ refund }) => refund.reason },
  { name: 'failure_reason', head: 'failure reason', valueOf: ({ refund }) => refund.failureReason },
];

function jsonLine(listed: ListedRefund): string {
  return JSON.stringify(Object.fromEntries(COLUMNS.map(({ name, valueOf }) => [name, valueOf(listed)])));
}

function csvLine(listed: ListedRefund, separator: RefundExport['separator']): string {
  const cells = COLUMNS.map(({ valueOf, isTime }) => {
    const value = valueOf(listed) ?? '';
    return isTime === true ? csvTime(value) : value;
  });
  return cells.map((cell) => csvCell(guardedText(cell, separator))).join(separator);
}

/** The time without its zone: spreadsheets read a time with a zone as text. */
function csvTime(iso: string): string {
  return iso === '' ? '' : `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
}

/** RFC 4180. */
function csvCell(text: string): string {
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
