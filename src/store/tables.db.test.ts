import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import { MIGRATIONS_TABLE } from './backups/copied-tables.ts';
import { TABLES } from './tables.ts';

interface Described {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
}

const inOrder = (columns: readonly Described[]): readonly Described[] =>
  columns.toSorted((a, b) => (`${a.table}.${a.column}` < `${b.table}.${b.column}` ? -1 : 1));

/** The database's spelling of the types. */
const WRITTEN: Readonly<Record<string, string>> = {
  ARRAY: '_text',
  'integer[]': '_int4',
  'uuid[]': '_uuid',
  numeric: 'numeric(78, 0)',
};

it('every table has in the database the columns that it has here, of the same type, nullability and default', async () => {
  const { db } = await testDatabase();
  const { rows } = await sql<Described>`
    select table_name as "table", column_name as "column",
      case when data_type = 'numeric' then format('numeric(%s, %s)', numeric_precision, numeric_scale)
        when data_type = 'ARRAY' then udt_name::text else data_type::text end as type,
      is_nullable = 'YES' as "isNullable", column_default is not null or is_identity = 'YES' as "hasDefault"
    from information_schema.columns
    where table_schema = 'public' and table_name <> ${MIGRATIONS_TABLE}`.execute(db);
  const known = Object.entries(TABLES).flatMap(([table, columns]) =>
    Object.entries(columns).map(([column, { sqlType, isNullable, hasDefault }]) => ({
      table,
      column,
      type: WRITTEN[sqlType] ?? sqlType,
      isNullable,
      hasDefault,
    })),
  );
  expect(inOrder(rows)).toEqual(inOrder(known));
});
