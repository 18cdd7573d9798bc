import { expect, it } from 'vitest';
import { sql } from 'kysely';
import { testDatabase } from '../../../test/database.ts';
import { COPIED_TABLES, MIGRATIONS_TABLE } from './copied-tables.ts';

it('every table of the database is one that a backup knows', async () => {
  const { db } = await testDatabase();
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`.execute(
    db,
  );
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...Object.keys(COPIED_TABLES), MIGRATIONS_TABLE].toSorted());
});
