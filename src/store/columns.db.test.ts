import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import * as columns from './columns.ts';

it.each([
  ['payments', columns.PAYMENT_COLUMNS],
  ['payment_addresses', columns.PAYMENT_ADDRESS_COLUMNS],
  ['idempotency_keys', columns.ANSWER_COLUMNS],
  ['payment_day_counts', columns.DAY_COUNT_COLUMNS],
  ['events', columns.EVENT_COLUMNS],
  ['transfers', columns.TRANSFER_COLUMNS],
  ['projects', columns.PROJECT_COLUMNS],
  ['refunds', columns.REFUND_COLUMNS],
  ['wallets', columns.WALLET_COLUMNS],
  ['webhook_endpoints', columns.ENDPOINT_COLUMNS],
  ['delivery_attempts', columns.ATTEMPT_COLUMNS],
  ['chain_cursors', columns.CURSOR_COLUMNS],
  ['chain_blocks', columns.BLOCK_COLUMNS],
  ['chain_nodes', columns.NODE_COLUMNS],
])('%s has in the database the columns that it has here, all of them', async (table, names) => {
  const { db } = await testDatabase();
  const { rows } = await sql<{ name: string }>`
    select column_name as name from information_schema.columns
    where table_schema = 'public' and table_name = ${table}`.execute(db);
  expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(names));
});
