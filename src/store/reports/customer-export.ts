import { sql } from 'kysely';
import type { Client } from 'pg';
import type { Fiat } from '../../domain/money.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import { customersBeginning, type Customer } from '../payments/customers.ts';
import { copyFile } from './copy-file.ts';
import { exact, fiat, plain, time, words, type Writing } from './export-columns.ts';

/** The content of an export of customers. */
export interface CustomerExport extends Writing {
  readonly scope: ProjectMode;
  readonly currency: Fiat;
  /** The beginning of an address; empty: all. */
  readonly search: string;
}

/** Passes on all customers from one snapshot, those with the newest payments first. Returns their number. */
export function copyCustomers(
  client: Client,
  file: CustomerExport,
  take: (piece: Buffer) => Promise<void>,
): Promise<number> {
  const { scope, currency, search, zone, format } = file;
  const of = (field: keyof Customer) => sql.ref(`c.${field}`);
  const unit = sql.lit(currency);
  const columns = [
    { name: 'email', head: 'e-mail', value: words(of('email'))(file) },
    { name: 'payments', head: 'payments', value: of('payments') },
    { name: 'completed', head: 'completed', value: of('completed') },
    { name: 'value', head: 'value', value: exact(fiat(of('value'), unit))(file) },
    { name: 'refunded', head: 'refunded', value: exact(fiat(of('refunded'), unit))(file) },
    { name: 'currency', head: 'currency', value: plain(unit)() },
    { name: 'unvalued', head: 'without a known rate', value: of('unvalued') },
    { name: 'last_payment', head: `last payment (${zone})`, value: time(of('lastAt'))(file) },
  ];
  const json = sql.join(columns.map(({ name, value }) => sql`${sql.lit(name)}, ${value}`));
  const values = format === 'csv' ? columns.map(({ value }) => value) : [sql`json_build_object(${json})::text`];
  const query = sql`select ${sql.join(values)} from (${customersBeginning(scope, currency, search)}) c order by c."lastId" desc`;
  return copyFile(client, file, { heads: columns.map(({ head }) => head), rows: (db) => query.compile(db) }, take);
}
