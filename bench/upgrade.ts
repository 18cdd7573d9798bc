import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { applyMigrations, migrate } from '../src/store/migrate.ts';
import { knownMigrations } from '../src/store/migration-files.ts';
import type { Figure } from './report.ts';
import { startBenchService, type BenchService } from './service.ts';

const READ_SECONDS = 10;
const ASK_EVERY_MS = 20;
const MAX_WAIT_MS = 2_500;
const AT_ONCE = 4;

/**
 * The longest wait of those who write to a table and of those who read it, while somebody reads it for ten seconds and
 * the database is migrated from the version that made the table: for every table.
 */
export async function upgrade(): Promise<readonly Figure[]> {
  const service = await startBenchService();
  const admin = await connected({ ...service.database, database: 'postgres' });
  try {
    const names = await knownMigrations();
    const waits: Waits[] = [];
    const known = new Set<string>();
    for (const [index, name] of names.entries()) {
      const version = `version_${index}`;
      await admin.query(`create database ${version}${index === 0 ? '' : ` template version_${index - 1}`}`);
      const client = await connected({ ...service.database, database: version });
      await applyMigrations(client, [name]);
      const tables = (await tablesOf(client)).filter((table) => !known.has(table));
      await client.end();
      for (const table of tables) known.add(table);
      // The last version's tables have nothing after them.
      if (index === names.length - 1) break;
      for (let at = 0; at < tables.length; at += AT_ONCE) {
        const some = tables.slice(at, at + AT_ONCE);
        for (const table of some) await admin.query(`create database of_${table} template ${version}`);
        waits.push(...(await Promise.all(some.map((table) => besideReader(service, table)))));
        for (const table of some) await admin.query(`drop database of_${table}`);
        console.error(`  ${waits.length} tables, those of ${name} among them`);
      }
    }
    return [figure('writers', waits, 'writer'), figure('other readers', waits, 'reader')];
  } finally {
    await admin.end();
    await service.stop();
  }
}

interface Waits {
  readonly table: string;
  readonly writer: number;
  readonly reader: number;
}

async function besideReader(service: BenchService, table: string): Promise<Waits> {
  const connect = () => connected({ ...service.database, database: `of_${table}` });
  const [reader, migrating, others, writers] = [await connect(), await connect(), await connect(), await connect()];
  let isOver = false;
  const longest = async (client: Client, statement: string): Promise<number> => {
    let ms = 0;
    while (!isOver) {
      const startedAt = performance.now();
      await client.query(statement);
      ms = Math.max(ms, performance.now() - startedAt);
      await setTimeout(ASK_EVERY_MS);
    }
    return ms;
  };
  const reading = reader.query(`select count(*), pg_sleep(${READ_SECONDS}) from ${table}`);
  const waiting = Promise.all([
    longest(writers, `begin; lock table ${table} in row exclusive mode; commit`),
    longest(others, `select count(*) from ${table}`),
  ]);
  await migrate(migrating);
  await reading;
  isOver = true;
  const [writer, reads] = await waiting;
  await Promise.all([reader, migrating, others, writers].map((client) => client.end()));
  return { table, writer, reader: reads };
}

async function connected(to: BenchService['database']): Promise<Client> {
  const client = new Client(to);
  await client.connect();
  return client;
}

async function tablesOf(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`);
  return rows.map(({ name }) => name);
}

function figure(who: string, waits: readonly Waits[], of: 'writer' | 'reader'): Figure {
  const worst = waits.toSorted((a, b) => b[of] - a[of])[0];
  return {
    name: `longest wait of ${who} during an upgrade, beside a reader of ${READ_SECONDS} s on each of ${waits.length} tables`,
    measured: `${worst?.[of].toFixed(0)} ms (${worst?.table})`,
    target: `${MAX_WAIT_MS} ms`,
    holds: (worst?.[of] ?? Infinity) <= MAX_WAIT_MS,
  };
}
