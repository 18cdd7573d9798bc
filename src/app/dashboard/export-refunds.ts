import type { Client } from 'pg';
import { encodeId } from '../../domain/id.ts';
import { fiatDecimals, formatDecimal } from '../../domain/money.ts';
import { guardedText } from '../../store/reports/export-columns.ts';
import { onConnection } from '../../store/one-connection.ts';
import type { PaymentScopeKey } from '../../store/payments/payment-filter.ts';
import { searchRefunds, type ListedRefund, type RefundSearch } from '../../store/refunds/refund-list.ts';
import { liftLimits } from '../../store/backups/snapshot.ts';
import { publicPaymentId } from '../../wire/payment.ts';
import { isoTime, isoTimeOrNull } from '../../wire/time.ts';
import type { App } from '../context.ts';
import { openExport, withoutSearch, type OpenedExport } from './open-export.ts';

/** A file of refunds. */
export interface RefundExport {
  readonly scope: PaymentScopeKey;
  readonly search: RefundSearch;
  readonly format: 'csv' | 'jsonl';
  readonly separator: ',' | ';';
}

/** So many refunds are read at once. */
const PAGE = 1_000;
const BYTE_ORDER_MARK = '\ufeff';

/** Opens a file of refunds, the newest first, as they are at one moment. */
export function exportRefunds(
  app: App,
  connect: () => Promise<Client>,
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
    countAbout: () => Promise.resolve(null),
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
  if (isCsv) await take(Buffer.from(`${mark}${Object.values(HEADS).join(separator)}\n`));
  await client.query('begin isolation level repeatable read, read only');
  await liftLimits(client);
  const db = onConnection(client);
  let after: string | null = null;
  let count = 0;
  for (;;) {
    const found = await searchRefunds(db, scope, search, { after, limit: PAGE });
    const lines = found.map((one) => (isCsv ? csvLine(recordOf(one), separator) : JSON.stringify(recordOf(one))));
    if (lines.length > 0) await take(Buffer.from(`${lines.join('\n')}\n`));
    count += found.length;
    after = found.at(-1)?.refund.id ?? null;
    if (found.length < PAGE) break;
  }
  await client.query('commit');
  return count;
}

/** Amounts are exact decimals. */
function recordOf({ refund, stage, paymentName, payout }: ListedRefund) {
  return {
    id: encodeId('refund', refund.id),
    created: isoTime(refund.createdAt),
    stage,
    payment: publicPaymentId({ id: refund.paymentId, surface: refund.paymentSurface }),
    order_id: paymentName,
    coin_amount: formatDecimal(refund.units, refund.decimals),
    coin: refund.asset,
    network: refund.network,
    amount: formatDecimal(refund.amountMinor, fiatDecimals(refund.currency)),
    currency: refund.currency,
    address: refund.address,
    transaction_hash: refund.transactionHash ?? (stage === 'seen' ? (payout?.transactionHash ?? null) : null),
    completed: isoTimeOrNull(refund.completedAt),
    reason: refund.reason,
    failure_reason: refund.failureReason,
  };
}
type RefundRecord = ReturnType<typeof recordOf>;

/** The heads of a CSV file. */
const HEADS: Readonly<Record<keyof RefundRecord, string>> = {
  id: 'id',
  created: 'created (UTC)',
  stage: 'state',
  payment: 'payment',
  order_id: 'order id',
  coin_amount: 'coin amount',
  coin: 'coin',
  network: 'network',
  amount: 'amount',
  currency: 'currency',
  address: 'address',
  transaction_hash: 'transaction hash',
  completed: 'completed (UTC)',
  reason: 'reason',
  failure_reason: 'failure reason',
};

/** Spreadsheets take a time for a text where it has a zone. */
function csvTime(iso: string | null): string | null {
  return iso === null ? null : `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
}

function csvLine(record: RefundRecord, separator: RefundExport['separator']): string {
  const { created, completed } = record;
  const cells = Object.values({ ...record, created: csvTime(created), completed: csvTime(completed) });
  return cells.map((cell) => csvCell(guardedText(cell ?? '', separator))).join(separator);
}

/** RFC 4180. */
function csvCell(text: string): string {
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
