import { compileFunction } from 'node:vm';
import type { SelectType } from 'kysely';
import { fieldName, type Column, type ColumnShape, type FieldOf, type TypesOf, type ValueOf } from './column.ts';

/** Several objects stored in one row: by part name, the columns that store each, by name. */
type Parts = Readonly<Record<string, Readonly<Record<string, ColumnShape>>>>;

/** The object stored in these columns. */
type Kept<Columns extends Parts[string]> = {
  readonly [Name in keyof Columns & string as FieldOf<Name, Columns[Name]>]: ValueOf<Columns[Name]>;
};
type KeptParts<Of extends Parts> = { readonly [Part in keyof Of]: Kept<Of[Part]> };

type NamesIn<Of extends Parts> = { [Part in keyof Of]: keyof Of[Part] }[keyof Of] & string;
/** The columns of all parts, by name. */
type ColumnsIn<Of extends Parts> = {
  readonly [Name in NamesIn<Of>]: {
    [Part in keyof Of]: Name extends keyof Of[Part] ? Of[Part][Name] : never;
  }[keyof Of];
};

type SelectedFrom<Of> = TypesOf<Of> extends { readonly kysely: infer Types } ? SelectType<Types> : never;
/** A row as it is selected. */
type Row<Of extends Parts> = { readonly [Name in NamesIn<Of>]: SelectedFrom<ColumnsIn<Of>[Name]> };

/** A column of a part, with the conversion of its value. */
interface Mapping {
  readonly part: string;
  readonly name: string;
  readonly field: string;
  readonly changes: boolean;
  readonly toRecord: ((value: {}) => unknown) | null;
  readonly usual: unknown;
  readonly whenNull: unknown;
}

interface Directions {
  readonly recordOf: (kept: object) => object;
  readonly read: (row: object) => object;
}

/**
 * Compiles both directions to functions with one object literal each, once at start. A loop over the fields takes twice
 * as long, because the engine cannot know the shape of the object, and a payment is read or written with every request.
 * The names come from our own maps, never from input.
 */
function compile(parts: readonly string[], fields: readonly Mapping[]): Directions {
  const own = (text: string): string => JSON.stringify(text);
  const written = fields.map(({ part, name, field, toRecord, usual }, at) => {
    const value = `kept[${own(part)}][${own(field)}]`;
    const withoutEmpty = toRecord === null ? value : `fields[${at}].toRecord(${value})`;
    const unsaid = usual === null ? '' : ` || ${value} === fields[${at}].usual`;
    return `${own(name)}: ${value} == null${unsaid} ? undefined : ${withoutEmpty}`;
  });
  const readParts = parts.map((part) => {
    const members = fields.flatMap(({ part: of, name, field, whenNull }, at) =>
      of === part
        ? [`${own(field)}: row[${own(name)}] ?? ${whenNull === null ? 'null' : `fields[${at}].whenNull`}`]
        : [],
    );
    return `${own(part)}: { ${members.join(', ')} }`;
  });
  const source = `return { recordOf: (kept) => ({ ${written.join(', ')} }), read: (row) => ({ ${readParts.join(', ')} }) };`;
  const directions: unknown = compileFunction(source, ['fields'])(fields);
  return directions as Directions;
}

/** A table whose rows are written as JSON records: any number of rows is one parameter of one statement. */
export interface RecordTable<Of extends Parts, Others> {
  readonly columns: ColumnsIn<Of> & Others;
  /** The columns that are written and read here, in order. */
  readonly names: readonly NamesIn<Of>[];
  /** Rows as a JSON array of records, without null and usual values. */
  readonly records: (rows: readonly KeptParts<Of>[]) => string;
  readonly read: (row: Row<Of>) => KeptParts<Of>;
  /** SQL that inserts the records in a parameter such as `$1`. */
  readonly insert: (parameter: string) => string;
  /** SQL that updates the changing columns of the rows in a parameter's records, found by id. */
  readonly update: (parameter: string) => string;
  /** The assignments of an insert's `on conflict … do update set`, for the changing columns. */
  readonly setExcluded: string;
}

/**
 * Makes a table from a map of columns to fields, from which both directions and all statements are derived. A field
 * without a column does not compile where its object is read, nor a column without a field where it is written.
 * Statements name their columns, so that a newer version can add one beside this process (docs/decisions/0081).
 *
 * @param others columns not handled here: identities, and those that other statements write
 */
export function recordTable<const Of extends Parts, Others extends object>(
  table: string,
  parts: Of,
  others: Others,
): RecordTable<Of, Others> {
  const fields = Object.entries(parts).flatMap(([part, columns]) =>
    Object.entries(columns).map(([name, column]): Mapping => {
      const { toRecord = null, usual = null, whenNull = null, changes = false } = column as Column<unknown>;
      return { part, name, field: fieldName(name, column), changes, toRecord, usual, whenNull };
    }),
  );
  const names = fields.map(({ name }) => name as NamesIn<Of>);
  const list = names.join(', ');
  const unsaid = fields.flatMap(({ name, usual, toRecord }) =>
    usual === null || usual === undefined ? [] : [[name, toRecord === null ? usual : toRecord(usual)] as const],
  );
  const base =
    unsaid.length === 0
      ? `null::${table}`
      : `json_populate_record(null::${table}, '${JSON.stringify(Object.fromEntries(unsaid))}')`;
  const recordsetOf = (parameter: string): string => `json_populate_recordset(${base}, ${parameter}::json)`;

  const assignments = (source: string): string =>
    fields.flatMap(({ name, changes }) => (changes ? [`${name} = ${source}.${name}`] : [])).join(', ');

  const { recordOf, read } = compile(Object.keys(parts), fields);

  return {
    columns: Object.assign({}, ...Object.values(parts), others) as ColumnsIn<Of> & Others,
    names,
    records: (rows) => JSON.stringify(rows.map(recordOf)),
    read: (row) => read(row) as KeptParts<Of>,
    insert: (parameter) => `insert into ${table} (${list}) select ${list} from ${recordsetOf(parameter)}`,
    update: (parameter) =>
      `update ${table} set ${assignments('n')} from ${recordsetOf(parameter)} n where ${table}.id = n.id`,
    setExcluded: assignments('excluded'),
  };
}
