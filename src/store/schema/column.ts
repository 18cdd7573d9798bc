import type { ColumnType } from 'kysely';
import { isoTime } from '../../wire/time.ts';

/** The types of our columns, named as in `information_schema`; `numeric` is `numeric(78, 0)`. */
type SqlType =
  | 'ARRAY'
  | 'bigint'
  | 'boolean'
  | 'bytea'
  | 'date'
  | 'integer'
  | 'integer[]'
  | 'jsonb'
  | 'numeric'
  | 'smallint'
  | 'text'
  | 'timestamp with time zone'
  | 'uuid'
  | 'uuid[]';

/** A column as the database knows it. */
export interface ColumnShape {
  readonly sqlType: SqlType;
  readonly isNullable: boolean;
  /** Whether inserts may leave it out. */
  readonly hasDefault: boolean;
  /** The field of the row's object; absent: the column's name in camel case. */
  readonly field?: string;
  /** Whether a `recordTable` writes it again when its row is updated. */
  readonly changes?: true;
}

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** The field of a row's object that has a column's value. */
export type FieldOf<Name extends string, Of> = Of extends { readonly field: infer Field extends string }
  ? Field
  : CamelCase<Name>;

export function fieldName(name: string, { field }: ColumnShape): string {
  return field ?? name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** A column whose field has another name. */
export function named<const Field extends string, Of extends ColumnShape>(
  field: Field,
  column: Of,
): Of & { readonly field: Field } {
  return { ...column, field };
}

/** A column that is written whenever its row is updated; others keep their inserted value. */
export function changing<Of extends ColumnShape>(column: Of): Of & { readonly changes: true } {
  return { ...column, changes: true };
}

export type TypesOf<Of> = Of extends { readonly types?: infer Types } ? Exclude<Types, undefined> : never;
/** The value of a column in the rest of the program. */
export type ValueOf<Of> = TypesOf<Of> extends { readonly value: infer Value } ? Value : never;

/**
 * A column for one kind of value, which the connection's parsers return unchanged, and what Kysely selects, inserts and
 * updates in it.
 */
export interface Column<Value, Select = Value, Insert = Value, Update = Insert> extends ColumnShape {
  /**
   * Converts a value for a JSON record; undefined leaves it out, as null always is. Absent if the value needs no
   * conversion.
   */
  readonly toRecord?: (value: Exclude<Value, null>) => unknown;
  /** The value, beside null, that records leave out; a missing field means this value. */
  readonly usual?: Value;
  /** The value read where the column is null; null by default. */
  readonly whenNull?: Value;
  /** Exists only as a type: it carries the value types. */
  readonly types?: { readonly value: Value; readonly kysely: ColumnType<Select, Insert, Update> };
}

const asIs = <Value>(sqlType: SqlType): Column<Value> => ({ sqlType, isNullable: false, hasDefault: false });
const exact = (sqlType: SqlType): Column<bigint, bigint, bigint | string> => ({
  sqlType,
  isNullable: false,
  hasDefault: false,
  toRecord: String,
});

export const uuid = () => asIs<string>('uuid');
export const text = <Value extends string = string>() => asIs<Value>('text');
export const boolean = () => asIs<boolean>('boolean');
export const smallint = <Value extends number = number>() => asIs<Value>('smallint');
export const integer = () => asIs<number>('integer');
/** A day as text, `2026-01-31`. */
export const day = () => asIs<string>('date');
/** A number that is exact in both directions. */
export const bigint = () => exact('bigint');
/** An amount in the smallest units of an asset, of any size. */
export const units = () => exact('numeric');
/** A time, read as epoch milliseconds and written as a Date. */
export const timestamp = (): Column<number, number, Date> => ({
  sqlType: 'timestamp with time zone',
  isNullable: false,
  hasDefault: false,
  toRecord: isoTime,
});
export const bytes = (): Column<Buffer> => ({
  ...asIs<Buffer>('bytea'),
  toRecord: (value) => `\\x${value.toString('hex')}`,
});
export const texts = <Value extends string = string>() => asIs<readonly Value[]>('ARRAY');
export const uuids = () => asIs<string[]>('uuid[]');
export const integers = () => asIs<number[]>('integer[]');
export const json = <Value extends object>(): Column<Value, Value, string> => ({
  sqlType: 'jsonb',
  isNullable: false,
  hasDefault: false,
});

/** A column that may be null. */
export function nullable<Value extends {}, Select, Insert, Update>({
  types: _types,
  usual: _usual,
  whenNull: _whenNull,
  ...kept
}: Column<Value, Select, Insert, Update>): Column<
  Value | null,
  Select | null,
  Insert | null | undefined,
  Update | null
> {
  return { ...kept, isNullable: true };
}

/** A column with a default, which an insert may leave out. */
export function defaulted<Value, Select, Insert, Update>({
  types: _types,
  ...kept
}: Column<Value, Select, Insert, Update>): Column<Value, Select, Insert | undefined, Update> {
  return { ...kept, hasDefault: true };
}

/** A column whose most frequent value is left out of records, which saves time on both sides. */
export function usually<Value, Select, Insert, Update>(
  kept: Column<Value, Select, Insert, Update>,
  usual: NoInfer<Value>,
): Column<Value, Select, Insert, Update> {
  return { ...kept, usual };
}

/** A column in which null means an object without members. */
export function emptyAsNull<Value extends Readonly<Record<string, string>>>({
  sqlType,
  hasDefault,
}: Column<Value, Value, string>): Column<
  Value | Readonly<Record<string, never>>,
  Value | null,
  string | null | undefined,
  string | null
> {
  return {
    sqlType,
    hasDefault,
    isNullable: true,
    toRecord: (value) => (isEmpty(value) ? undefined : value),
    whenNull: {},
  };
}

function isEmpty(members: Readonly<Record<string, string>>): boolean {
  for (const _ in members) return false;
  return true;
}
