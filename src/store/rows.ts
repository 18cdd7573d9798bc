import { sql, type Insertable, type RawBuilder, type Updateable } from 'kysely';
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
