import type { ColumnType } from 'kysely';
import { isoTime } from '../../wire/time.ts';

/** The types that our columns have, in the words of `information_schema`; `numeric` is `numeric(78, 0)`. */
type SqlType =
  | 'ARRAY'
  | 'bigint'
  | 'boolean'
  | 'bytea'
  | 'date'
  | 'integer'
  | 'jsonb'
  | 'numeric'
  | 'smallint'
  | 'text'
  | 'timestamp with time zone'
  | 'uuid';

/** What the database knows of a column. */
export interface ColumnShape {
  readonly sqlType: SqlType;
  readonly isNullable: boolean;
  /** Rows that say nothing of it get a value all the same. */
  readonly hasDefault: boolean;
}

/**
 * A column that keeps values of one kind, which the connection's parsers give as they are, and what Kysely selects, inserts
 * and updates in it.
 */
export interface Column<Value, Select = Value, Insert = Value, Update = Insert> extends ColumnShape {
  /**
   * What a value is in a record, for `JSON.stringify`; undefined: the record leaves it out, as null always is. Not said where
   * it is the value itself.
   */
  readonly toRecord?: (value: Exclude<Value, null>) => unknown;
  /** The value that records leave out, beside null: it is what they mean by saying nothing. */
  readonly usual?: Value;
  /** What is read where the column is null; null itself unless said. */
  readonly whenNull?: Value;
  /** Never there: it carries the types. */
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
/** Exact in both directions. */
export const bigint = () => exact('bigint');
/** An amount in the smallest units of an asset, of any size. */
export const units = () => exact('numeric');
/** Read as epoch milliseconds, written as a Date. */
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
export const texts = () => asIs<string[]>('ARRAY');
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

/** A column that gets a value by itself where an insert says nothing of it. */
export function defaulted<Value, Select, Insert, Update>({
  types: _types,
  ...kept
}: Column<Value, Select, Insert, Update>): Column<Value, Select, Insert | undefined, Update> {
  return { ...kept, hasDefault: true };
}

/** A column whose most frequent value is left out of records, for both sides' sake. */
export function usually<Value, Select, Insert, Update>(
  kept: Column<Value, Select, Insert, Update>,
  usual: NoInfer<Value>,
): Column<Value, Select, Insert, Update> {
  return { ...kept, usual };
}

/** A column in which null stands for an object without members. */
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
