import { sql, type Insertable, type RawBuilder, type Updateable } from 'kysely';
import { affectedRows, type Database, type Trx } from './database.ts';
import { fieldName, type ColumnShape, type FieldOf, type ValueOf } from './schema/column.ts';
import { TABLES, type Tables } from './tables.ts';

/**
 * The one way from a row to its object and back: a row is selected under the names of the object's fields, and an
 * object is written as a row by `toRow` and `toChanges` (docs/decisions/0081). Only rows that every request writes or
 * reads go through `schema/record-table.ts` instead, where the gain was measured.
 */

type Name<Table extends keyof Tables> = keyof (typeof TABLES)[Table] & string;
type FieldIn<Table extends keyof Tables, Column extends Name<Table>> = FieldOf<Column, (typeof TABLES)[Table][Column]>;

/** The object that a row stores: a field for each column. */
export type Stored<Table extends keyof Tables> = {
  readonly [Column in Name<Table> as FieldIn<Table, Column>]: ValueOf<(typeof TABLES)[Table][Column]>;
};

/** The columns as Kysely selects them. */
type Selected<Table extends keyof Tables, Of extends string, Left extends Name<Table>> = {
  [Column in Exclude<Name<Table>, Left>]: `${Of}.${Column} as ${FieldIn<Table, Column>}`;
}[Exclude<Name<Table>, Left>];

/** The columns of a table to select under their fields' names: `*` would break once a newer version adds a column. */
export function fields<
  const Table extends keyof Tables,
  const Of extends string = Table,
  const Left extends Name<Table> = never,
>(
  table: Table,
  {
    of,
    without = [],
  }: { /** The table's name in the statement. */ readonly of?: Of; readonly without?: readonly Left[] } = {},
): readonly Selected<Table, Of, Left>[] {
  return columnsOf(table, without).map(
    ([name, field]) => `${of ?? table}.${name} as ${field}` as Selected<Table, Of, Left>,
  );
}

/** The columns to select like {@link fields}, for a statement written as text. */
export function fieldList<const Table extends keyof Tables>(
  table: Table,
  { of = table, without = [] }: { readonly of?: string; readonly without?: readonly Name<Table>[] } = {},
): RawBuilder<unknown> {
  return sql.join(
    columnsOf(table, without).map(([name, field]) => sql`${sql.ref(`${of}.${name}`)} as ${sql.ref(field)}`),
  );
}

/** The row of an object, to insert. It has every column that is not left out: a forgotten field does not compile. */
export function toRow<const Table extends keyof Tables, const Left extends Name<Table> = never>(
  table: Table,
  object: Omit<Stored<Table>, FieldIn<Table, Left>>,
  { without = [] }: { readonly without?: readonly Left[] } = {},
): Insertable<Tables[Table]> {
  return columnValues(columnsOf(table, without), object) as Insertable<Tables[Table]>;
}

/** The columns of the fields that an object has, to update. Fields that are absent or undefined stay as they are. */
export function toChanges<const Table extends keyof Tables>(
  table: Table,
  changes: Partial<Stored<Table>>,
): Updateable<Tables[Table]> {
  const given = columnsOf(table, []).filter(
    ([, field]) => (changes as Readonly<Record<string, unknown>>)[field] !== undefined,
  );
  return columnValues(given, changes) as Updateable<Tables[Table]>;
}

type ColumnEntry = readonly [name: string, field: string, shape: ColumnShape];

function columnsOf(table: keyof Tables, without: readonly string[]): readonly ColumnEntry[] {
  return Object.entries<ColumnShape>(TABLES[table]).flatMap(([name, shape]) =>
    without.includes(name) ? [] : [[name, fieldName(name, shape), shape] as const],
  );
}

function columnValues(columns: readonly ColumnEntry[], object: object): Readonly<Record<string, unknown>> {
  const values = object as Readonly<Record<string, unknown>>;
  return Object.fromEntries(columns.map(([name, field, shape]) => [name, parameterOf(shape, values[field])]));
}

/** A value in the form that the driver accepts; the driver writes bigints and lists by itself. */
function parameterOf({ sqlType }: ColumnShape, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (sqlType === 'timestamp with time zone') return new Date(value as number);
  return sqlType === 'jsonb' ? JSON.stringify(value) : value;
}

/** How a field is compared where it need not equal a value. */
class Comparison<Value> {
  readonly operator: '<' | '<=' | '>' | '<>' | '= any';
  readonly value: Value | readonly Value[] | null;

  constructor(operator: Comparison<Value>['operator'], value: Comparison<Value>['value']) {
    this.operator = operator;
    this.value = value;
  }
}

export const below = <Value>(value: Value): Comparison<Value> => new Comparison('<', value);
export const atMost = <Value>(value: Value): Comparison<Value> => new Comparison('<=', value);
export const above = <Value>(value: Value): Comparison<Value> => new Comparison('>', value);
export const oneOf = <Value>(values: readonly Value[]): Comparison<Value> => new Comparison('= any', values);
export const not = <Value>(value: Value): Comparison<Value> => new Comparison('<>', value);
export const NOT_NULL = new Comparison<never>('<>', null);

/** Selects rows of a table: every named field must equal its value, be null, or compare as stated. */
export type Where<Table extends keyof Tables> = {
  readonly [Field in keyof Stored<Table>]?: Stored<Table>[Field] | null | Comparison<NonNullable<Stored<Table>[Field]>>;
};

type Ordered<Field extends string> = Field | `${Field} desc`;

interface Reading<Table extends keyof Tables, Left> {
  readonly without?: readonly Left[];
  readonly order?: readonly Ordered<keyof Stored<Table> & string>[];
  readonly limit?: number;
  readonly offset?: number;
  /** Locked until the transaction ends. */
  readonly isLocked?: boolean;
}

/** The rows of one table as objects. */
export async function findRows<const Table extends keyof Tables, const Left extends Name<Table> = never>(
  executor: Database | Trx,
  table: Table,
  where: Where<Table>,
  { without = [], order = [], limit, offset, isLocked = false }: Reading<Table, Left> = {},
): Promise<readonly Omit<Stored<Table>, FieldIn<Table, Left>>[]> {
  const ordered = order.map((one) => {
    const [field = '', ...way] = one.split(' ');
    return sql`${sql.ref(columnOf(table, field)[0])} ${sql.raw(way.join(' '))}`;
  });
  const { rows } = await sql<Omit<Stored<Table>, FieldIn<Table, Left>>>`
    select ${fieldList(table, { without })} from ${sql.table(table)} where ${conditionOf(table, where)}
    ${ordered.length === 0 ? sql`` : sql`order by ${sql.join(ordered)}`}
    ${limit === undefined ? sql`` : sql`limit ${limit}`} ${offset === undefined ? sql`` : sql`offset ${offset}`}
    ${isLocked ? sql`for update` : sql``}`.execute(executor);
  return rows;
}

/** The first of these rows; null if there is none. */
export async function findRow<const Table extends keyof Tables, const Left extends Name<Table> = never>(
  executor: Database | Trx,
  table: Table,
  where: Where<Table>,
  reading: Reading<Table, Left> = {},
): Promise<Omit<Stored<Table>, FieldIn<Table, Left>> | null> {
  return (await findRows(executor, table, where, reading))[0] ?? null;
}

export async function countRows<const Table extends keyof Tables>(
  executor: Database | Trx,
  table: Table,
  where: Where<Table>,
): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from ${sql.table(table)} where ${conditionOf(table, where)}`.execute(executor);
  return Number(rows[0]?.count ?? 0n);
}

export async function hasRow<const Table extends keyof Tables>(
  executor: Database | Trx,
  table: Table,
  where: Where<Table>,
): Promise<boolean> {
  const { rows } = await sql`
    select from ${sql.table(table)} where ${conditionOf(table, where)} limit 1`.execute(executor);
  return rows.length > 0;
}

/** A row that is there already: it stays as it is, or gets the fields of `set`. */
interface Conflict<Table extends keyof Tables> {
  /** The fields by which it is the same; absent: any that are unique. */
  readonly by?: readonly (keyof Stored<Table> & string)[];
  readonly set?: Partial<Stored<Table>>;
}

/**
 * Inserts objects, of which every field is stated that is not left out. Without `conflict` a row that is there already
 * fails. Returns how many rows were inserted or changed.
 */
export async function insertRows<const Table extends keyof Tables, const Left extends Name<Table> = never>(
  executor: Database | Trx,
  table: Table,
  objects: readonly Omit<Stored<Table>, FieldIn<Table, Left>>[],
  { without = [], conflict }: { readonly without?: readonly Left[]; readonly conflict?: Conflict<Table> } = {},
): Promise<number> {
  if (objects.length === 0) return 0;
  const columns = columnsOf(table, without);
  const names = columns.map(([name]) => sql.ref(name));
  const rows = objects.map((object) => sql`(${sql.join(Object.values(columnValues(columns, object)))})`);
  return affectedRows(
    executor,
    sql`insert into ${sql.table(table)} (${sql.join(names)}) values ${sql.join(rows)}
      ${conflict === undefined ? sql`` : onConflict(table, conflict)}`,
  );
}

function onConflict<Table extends keyof Tables>(table: Table, { by = [], set }: Conflict<Table>): RawBuilder<unknown> {
  const names = by.map((field) => sql.ref(columnOf(table, field)[0]));
  const target = names.length === 0 ? sql`` : sql`(${sql.join(names)})`;
  return sql`on conflict ${target} ${set === undefined ? sql`do nothing` : sql`do update set ${changesOf(table, set)}`}`;
}

/** Changes the fields that are given of all these rows; returns how many there were. */
export async function updateRows<const Table extends keyof Tables>(
  executor: Database | Trx,
  table: Table,
  where: Where<Table>,
  changes: Partial<Stored<Table>>,
): Promise<number> {
  return affectedRows(
    executor,
    sql`update ${sql.table(table)} set ${changesOf(table, changes)} where ${conditionOf(table, where)}`,
  );
}

/** Returns how many rows were deleted. */
export async function deleteRows<const Table extends keyof Tables>(
  executor: Database | Trx,
  table: Table,
  where: Where<Table>,
): Promise<number> {
  return affectedRows(executor, sql`delete from ${sql.table(table)} where ${conditionOf(table, where)}`);
}

function changesOf<Table extends keyof Tables>(table: Table, changes: Partial<Stored<Table>>): RawBuilder<unknown> {
  const set = Object.entries(toChanges(table, changes));
  return sql.join(set.map(([name, value]) => sql`${sql.ref(name)} = ${value}`));
}

function conditionOf<Table extends keyof Tables>(table: Table, where: Where<Table>): RawBuilder<unknown> {
  const parts = Object.entries(where).map(([field, wanted]) => {
    const [name, , shape] = columnOf(table, field);
    const column = sql.ref(name);
    if (wanted === null) return sql`${column} is null`;
    if (wanted === undefined) throw new Error(`The rows of ${table} are wanted by ${field}, which has no value.`);
    if (!(wanted instanceof Comparison)) return sql`${column} = ${parameterOf(shape, wanted)}`;
    const { operator, value } = wanted;
    if (value === null) return sql`${column} is not null`;
    return operator === '= any'
      ? sql`${column} = any (${[value].flat().map((one) => parameterOf(shape, one))})`
      : sql`${column} ${sql.raw(operator)} ${parameterOf(shape, value)}`;
  });
  return parts.length === 0 ? sql`true` : sql.join(parts, sql` and `);
}

function columnOf(table: keyof Tables, field: string): ColumnEntry {
  const found = columnsOf(table, []).find(([, one]) => one === field);
  if (found === undefined) throw new Error(`${table} has no column for ${field}.`);
  return found;
}
