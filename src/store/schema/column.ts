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
  /** What records that leave it out stand for, as JSON text; null where nothing is said. */
  readonly unsaid?: string | undefined;
  /** What is read where the column is null; null itself unless said. */
  readonly whenNull?: unknown;
}

/**
 * A column that keeps values of one kind, which the connection's parsers give as they are, and what Kysely selects, inserts
 * and updates in it.
 */
export interface Column<Value, Select = Value, Insert = Value, Update = Insert> extends ColumnShape {
  /** The value's JSON text in a record of a row; undefined: the record leaves it out. */
  readonly toJson: (value: Value) => string | undefined;
  /** Never there: it carries the types. */
  readonly kysely?: ColumnType<Select, Insert, Update>;
}

function column<Value, Insert = Value>(
  sqlType: SqlType,
  toJson: (value: Value) => string,
): Column<Value, Value, Insert> {
  return { sqlType, isNullable: false, hasDefault: false, toJson };
}

/** Of what has nothing to escape. */
const quoted = (value: string | bigint): string => `"${value}"`;

export const uuid = () => column<string>('uuid', JSON.stringify);
export const text = <Value extends string = string>() => column<Value>('text', JSON.stringify);
export const boolean = () => column<boolean>('boolean', String);
export const smallint = <Value extends number = number>() => column<Value>('smallint', String);
export const integer = () => column<number>('integer', String);
/** A day as text, `2026-01-31`. */
export const day = () => column<string>('date', JSON.stringify);
/** Exact in both directions. */
export const bigint = () => column<bigint, bigint | string>('bigint', quoted);
/** An amount in the smallest units of an asset, of any size. */
export const units = () => column<bigint, bigint | string>('numeric', quoted);
/** Read as epoch milliseconds, written as a Date. */
export const timestamp = () => column<number, Date>('timestamp with time zone', (at) => quoted(isoTime(at)));
export const bytes = () => column<Buffer>('bytea', (value) => quoted(`\\\\x${value.toString('hex')}`));
export const texts = () => column<string[]>('ARRAY', JSON.stringify);
export const json = <Value extends object>() => column<Value, string>('jsonb', JSON.stringify);

/** A column that may be null. */
export function nullable<Value, Select, Insert, Update>(
  kept: Column<Value, Select, Insert, Update>,
): Column<Value | null, Select | null, Insert | null | undefined, Update | null> {
  const { sqlType, hasDefault, toJson } = kept;
  return { sqlType, isNullable: true, hasDefault, toJson: (value) => (value === null ? undefined : toJson(value)) };
}

/** A column that gets a value by itself where an insert says nothing of it. */
export function defaulted<Value, Select, Insert, Update>(
  kept: Column<Value, Select, Insert, Update>,
): Column<Value, Select, Insert | undefined, Update> {
  const { sqlType, isNullable, toJson } = kept;
  return { sqlType, isNullable, hasDefault: true, toJson };
}

/** A column whose most frequent value is left out of records, for both sides' sake. */
export function usually<Value, Select, Insert, Update>(
  kept: Column<Value, Select, Insert, Update>,
  usual: NoInfer<Value>,
): Column<Value, Select, Insert, Update> {
  return {
    ...kept,
    toJson: (value) => (value === usual ? undefined : kept.toJson(value)),
    unsaid: kept.toJson(usual),
  };
}

/** A column in which null stands for an object without members. */
export function emptyAsNull<Value extends Readonly<Record<string, string>>>(
  kept: Column<Value, Value, string>,
): Column<Value | Readonly<Record<string, never>>, Value | null, string | null | undefined, string | null> {
  return {
    ...nullable(kept),
    toJson: (value) => (isEmpty(value) ? undefined : JSON.stringify(value)),
    whenNull: {},
  };
}

function isEmpty(members: Readonly<Record<string, string>>): boolean {
  for (const _ in members) return false;
  return true;
}
