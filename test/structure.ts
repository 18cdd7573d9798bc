import { sql } from 'kysely';
import type { Database } from '../src/store/database.ts';

/** Every index, constraint and column, as PostgreSQL writes them. */
export async function structureOf(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ line: string }>`
    select pg_get_indexdef(i.indexrelid) as line from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = 'public'::regnamespace
    union all
    select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
    where connamespace = 'public'::regnamespace
    union all
    select table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '')
      || ' ' || is_identity
    from information_schema.columns where table_schema = 'public'
    union all
    select c.relname || ' ' || coalesce(c.reloptions::text, '') from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
    order by line`.execute(db);
  return rows.map(({ line }) => line);
}
