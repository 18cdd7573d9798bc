import { sql, type RawBuilder } from 'kysely';
import type { Client } from 'pg';
import type { Booking, BookingFormat, BookingKind, DatevSettings, LeftOut } from '../../domain/bookkeeping.ts';
import type { Named } from '../../domain/books.ts';
import type { Network } from '../../domain/networks.ts';
import type { PaymentApi } from '../../domain/payment.ts';
import { publicPaymentId } from '../../domain/payment-kind.ts';
import type { ReportDays } from '../../domain/report.ts';
import { datevHead, datevLine } from '../../wire/datev.ts';
import { windows1252 } from '../../wire/windows-1252.ts';
import { XERO_HEAD, xeroLine } from '../../wire/xero.ts';
import { copyOut } from '../backups/copy.ts';
import type { Database, Trx } from '../database.ts';
import { inlined, onConnection } from '../one-connection.ts';
import { bookedMovements, movementSums, type BookingSelection } from './booking-rows.ts';
import { AS_IT_IS, beginSnapshot } from './copy-file.ts';
import { count, named, total } from './report-sums.ts';

/** A file of bookings. */
export interface BookingFile extends BookingSelection {
  readonly days: ReportDays;
  /** `madeAt` is the time at which DATEV shows the batch as made, such as `20260131235959000`. */
  readonly software:
    | { readonly format: 'datev'; readonly settings: DatevSettings; readonly madeAt: string }
    | { readonly format: 'xero' };
}

/** The sums of the bookings of a kind in one coin, as the statement has them. */
export interface BookingSum {
  readonly kind: BookingKind;
  readonly asset: string;
  readonly network: Network;
  readonly rows: number;
  /** Exact decimal of the coin. */
  readonly amount: string;
  /** In the smallest unit of the project's currency; always positive. */
  readonly value: bigint;
  /** The number of movements whose value is unknown. */
  readonly unvalued: number;
}

/** The sums of a file, and the movements that it cannot have. */
export interface BookingSummary {
  readonly sums: readonly BookingSum[];
  readonly leftOut: Named<LeftOut>;
}

/** Adds up bookings as the statement does: by coin, rounded once. */
export async function bookingSummary(
  db: Database | Trx,
  selection: BookingSelection,
  zone: string,
): Promise<BookingSummary> {
  const { rows: sums } = await sql<BookingSum>`
    select kind, coin as asset, network, count(*)::integer as rows, trim_scale(coalesce(sum(amount), 0))::text as amount,
      ${total('value')} as value, ${count(sql`value is null`)} as unvalued
    from ${movementSums(selection)} group by kind, coin, network
    order by array_position(array['receipt', 'refund', 'fee'], kind), network, coin`.execute(db);
  const found = await named<Omit<LeftOut, 'id'> & Identity>(
    db,
    sql`select kind, ${dayIn(zone)} as day, api, id, amount::text, coin,
      case when value is null then 'no_value' else 'too_small' end as why, happened
      from ${bookedMovements(selection, null)} where value is null or minor = 0`,
    sql`happened, id`,
  );
  const rows = found.rows.map(({ kind, day, amount, coin, why, ...who }) => ({
    kind,
    day,
    id: publicId(who),
    amount,
    coin,
    why,
  }));
  return { sums, leftOut: { rows, count: found.count } };
}

interface Identity {
  /** Null: the id is a sweep's. */
  readonly api: PaymentApi | null;
  readonly id: string;
}

function publicId({ api, id }: Identity): string {
  return api === null ? id : publicPaymentId({ api, id });
}

const dayIn = (zone: string): RawBuilder<string> => sql<string>`to_char(happened at time zone ${zone}, 'YYYY-MM-DD')`;

type BookingRow = Identity & Omit<Booking, 'id' | 'minor'> & { readonly minor: string };

/**
 * Passes on a file of bookings from one snapshot, and returns the number of bookings. `onSummary` is called before the
 * first byte. Throws what `take` throws, and if the bookings do not add up to the statement's sums: then the file is
 * cut short, and the connection unusable.
 */
export async function copyBookings(
  client: Client,
  file: BookingFile,
  take: (piece: Buffer) => Promise<void>,
  onSummary: (summary: BookingSummary) => void = () => {},
): Promise<number> {
  const { days, software, scope } = file;
  const db = onConnection(client);
  await beginSnapshot(client);
  const summary = await bookingSummary(db, file, days.zone);
  onSummary(summary);
  const { head, line } = writerOf(file);
  await take(head);
  const written = new Map<BookingKind, bigint>();
  const query = rowsOf(file, software.format).compile(db);
  const rows = await copyOut(client, `copy (${inlined(client, query)}) to stdout with (${AS_IT_IS})`, take, (row) => {
    const { api, id, minor, ...booking } = JSON.parse(row.toString()) as BookingRow;
    const units = BigInt(minor);
    written.set(booking.kind, (written.get(booking.kind) ?? 0n) + units);
    return line({ ...booking, id: publicId({ api, id }), minor: units });
  });
  for (const { kind, value } of summary.sums) written.set(kind, (written.get(kind) ?? 0n) - value);
  const wrong = [...written].find(([, rest]) => rest !== 0n);
  if (wrong !== undefined) {
    throw new Error(`The bookings of ${scope.projectId} differ from its statement by ${wrong[1]} (${wrong[0]}).`);
  }
  await client.query('commit');
  return rows;
}

function rowsOf(file: BookingFile, format: BookingFormat): RawBuilder<unknown> {
  return sql`select json_build_object('kind', kind, 'day', ${dayIn(file.days.zone)}, 'minor', minor::text, 'api', api,
      'id', id, 'orderId', order_id, 'customer', customer, 'amount', amount::text, 'coin', coin, 'network', network,
      'exception', exception, 'transaction', transaction)::text
    from ${bookedMovements(file, format)} where minor > 0 order by happened, kind, id, transaction, part`;
}

function writerOf({ software, days, scope }: BookingFile): {
  readonly head: Buffer;
  readonly line: (booking: Booking) => Buffer;
} {
  if (software.format === 'xero') {
    return { head: Buffer.from(XERO_HEAD), line: (booking) => Buffer.from(xeroLine(booking, scope.currency)) };
  }
  const { settings, madeAt } = software;
  return {
    head: Buffer.from(windows1252(datevHead(settings, { days, mode: scope.mode, madeAt })), 'latin1'),
    line: (booking) => Buffer.from(windows1252(datevLine(booking, settings)), 'latin1'),
  };
}
