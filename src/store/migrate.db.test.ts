import { appendFile, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import { WAIT } from '../../test/deadline.ts';
import { migrate } from './migrate.ts';
import { knownMigrations, MigrationError } from './migration-files.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');

/** A connection to a migrated database, and a folder of the same migrations that the test may add to. */
async function migrated() {
  const { url } = await testDatabase();
  const connect = async (): Promise<Client> => {
    const client = new Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  };
  const client = await connect();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-migrations-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const names = await knownMigrations();
  for (const name of names) await copyFile(path.join(MIGRATIONS, name), path.join(folder, name));
  const applied = async (): Promise<readonly string[]> =>
    (await client.query<{ name: string }>('select name from migrations order by name')).rows.map(({ name }) => name);
  return { client, connect, folder, names: names.toSorted(), applied };
}

describe('migrating', () => {
  it('refuses a database that a newer version has migrated, and changes nothing', async () => {
    const { client, folder, applied } = await migrated();
    await client.query("insert into migrations (name) values ('9998_of_tomorrow.sql')");
    await writeFile(path.join(folder, '9997_of_today.sql'), 'create table of_today ()');
    const before = await applied();
    const refusal = migrate(client, { folder });
    await expect(refusal).rejects.toThrow(MigrationError);
    await expect(refusal).rejects.toThrow(/newer version of Cointill \(9998_of_tomorrow\.sql\)\. Use that version/);
    expect(await applied()).toEqual(before);
  });

  it('applies what is missing, in order and once', async () => {
    const { client, folder, names, applied } = await migrated();
    await writeFile(path.join(folder, '9998_second.sql'), 'alter table first_of_two add column later integer');
    await writeFile(path.join(folder, '9997_first.sql'), 'create table first_of_two ()');
    await writeFile(path.join(folder, 'notes.sql'), 'this is none');
    expect(await migrate(client, { folder })).toEqual(['9997_first.sql', '9998_second.sql']);
    expect(await migrate(client, { folder })).toEqual([]);
    expect(await applied()).toEqual([...names, '9997_first.sql', '9998_second.sql']);
  });

  it('refuses a migration that was changed after it was applied, and changes nothing', async () => {
    const { client, folder, names, applied } = await migrated();
    await writeFile(path.join(folder, '9997_of_today.sql'), 'create table of_today ()');
    await appendFile(path.join(folder, '0004_refund_inputs.sql'), '-- A word more.\n');
    const refusal = migrate(client, { folder });
    await expect(refusal).rejects.toThrow(MigrationError);
    await expect(refusal).rejects.toThrow(
      /^The schema of the database does not fit this version of Cointill: its migration 0004_refund_inputs\.sql had another text\. /,
    );
    expect(await applied()).toEqual(names);
  });

  it('takes a migration for the same where only the ends of its lines are others', async () => {
    const { client, folder } = await migrated();
    const file = path.join(folder, '0004_refund_inputs.sql');
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll('\n', '\r\n'));
    expect(await migrate(client, { folder })).toEqual([]);
  });

  it('keeps the checksums of what was applied by a version without them, and refuses changes from then on', async () => {
    const { client, folder } = await migrated();
    await client.query('alter table migrations drop column checksum');
    expect(await migrate(client, { folder })).toEqual([]);
    // Migrations applied by such a version, beside this one, have no checksum either.
    await client.query("update migrations set checksum = null where name = '0002_live_chains.sql'");
    expect(await migrate(client, { folder })).toEqual([]);
    expect((await client.query('select from migrations where checksum is null')).rows).toEqual([]);
    await appendFile(path.join(folder, '0002_live_chains.sql'), '-- A word more.\n');
    await expect(migrate(client, { folder })).rejects.toThrow(/its migration 0002_live_chains\.sql had another text/);
  });

  it('waits for nobody who reads which migrations there are, such as a backup', async () => {
    const { client, folder, connect } = await migrated();
    const reader = await connect();
    await reader.query('begin isolation level repeatable read; select name from migrations');
    await client.query("set lock_timeout = '10s'");
    expect(await migrate(client, { folder })).toEqual([]);
  });

  it('is given up by the server when its process hangs, waits a second for a lock, and takes any time otherwise', async () => {
    const { client, folder } = await migrated();
    const settings = ['idle_in_transaction_session_timeout', 'statement_timeout', 'lock_timeout'];
    const shown = settings.map((name) => `current_setting('${name}') as ${name}`).join(', ');
    await writeFile(path.join(folder, '9997_first.sql'), `create table seen as select ${shown}`);
    await migrate(client, { folder });
    const seen = { idle_in_transaction_session_timeout: '30s', statement_timeout: '0', lock_timeout: '1s' };
    expect((await client.query('select * from seen')).rows).toEqual([seen]);
  });

  it('leaves nothing of one that fails, names it, and lets the next try begin with it', async () => {
    const { client, folder, names, applied } = await migrated();
    const file = path.join(folder, '9997_wrong.sql');
    await writeFile(file, 'create table half (); create tabel rest ()');
    await expect(migrate(client, { folder })).rejects.toThrow(/^Migration 9997_wrong\.sql failed: syntax error/);
    expect(await applied()).toEqual(names);
    await writeFile(file, 'create table half ()');
    expect(await migrate(client, { folder })).toEqual(['9997_wrong.sql']);
  });

  it.each([
    ['a change', 'alter table projects add column more integer'],
    [
      'a change beside an index',
      'create index concurrently more on labels (name);\nalter table projects add column more integer',
    ],
  ])('%s that waits for a long reader keeps nobody else waiting, and says who that is', async (_, text) => {
    const { client, folder, connect } = await migrated();
    await writeFile(path.join(folder, '9997_more.sql'), text);
    const [reader, others] = [await connect(), await connect()];
    await reader.query("set application_name = 'a long export'; begin; select from projects");
    const { promise: waiting, resolve: onWait } = Promise.withResolvers<unknown>();
    const migrating = migrate(client, { folder, onWait });
    expect(await waiting).toEqual({
      migration: '9997_more.sql',
      holder: expect.stringMatching(/^a long export, process \d+, in a transaction since 20/),
    });
    // Served between two tries at the latest, though the reader goes on.
    await others.query("set lock_timeout = '1500ms'");
    for (let turn = 0; turn < 3; turn += 1) await others.query('select from projects');
    await reader.query('commit');
    expect(await migrating).toEqual(['9997_more.sql']);
  });

  describe('an index that is built concurrently', () => {
    const NAME = '9997_index.sql';
    const TEXT = `-- Found by its description.
drop index concurrently if exists payments_by_description;
create index concurrently payments_by_description on payments (description);
`;
    const VALID = `select indisvalid from pg_index where indexrelid = 'payment_arrows_by_description'::regclass`;
    const INSERT = `insert into projects (id, name, created_at) values (gen_random_uuid(), 'Shop', now())`;

    it('is built while others write to its table', async () => {
      const { client, folder, connect } = await migrated();
      await writeFile(path.join(folder, NAME), TEXT.replace('payments (description)', 'projects (name)'));
      const [early, late] = [await connect(), await connect()];
      await early.query(`begin; ${INSERT}`);
      const migrating = migrate(client, { folder });
      const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'create index%'`;
      await vi.waitFor(async () => expect((await late.query(waits)).rowCount).toBe(1), WAIT);
      await late.query("set lock_timeout = '5s'");
      await late.query(INSERT);
      await early.query('commit');
      expect(await migrating).toEqual([NAME]);
    });

    it('is built again if it was left half built', async () => {
      const { client, folder } = await migrated();
      const text = TEXT.replaceAll('payments', 'payment_arrows');
      await writeFile(path.join(folder, NAME), text.replace('(description)', '((1 / (id - id)))'));
      await client.query(`insert into payment_arrows (payment_id, from_status, to_status, cause, at)
        values (gen_random_uuid(), 'created', 'pending', 'token_chosen', now())`);
      await expect(migrate(client, { folder })).rejects.toThrow(/^Migration 9997_index\.sql failed: division by zero/);
      const { rows: left } = await client.query(VALID);
      expect(left).toEqual([{ indisvalid: false }]);
      await writeFile(path.join(folder, NAME), text.replace('(description)', '(cause)'));
      expect(await migrate(client, { folder })).toEqual([NAME]);
      const { rows } = await client.query(VALID);
      expect(rows).toEqual([{ indisvalid: true }]);
    });

    it('stands beside statements with semicolons in strings, bodies and comments', async () => {
      const { client, folder } = await migrated();
      const text = `-- One; two.
create index concurrently more on labels (name); -- That's all; more follows.
create function told() returns text language plpgsql as $body$ begin return 'a;b'; end; $body$;
comment on table labels is 'words; of people''s';
comment on table projects is 'a -- b'; /* ; ' */
`;
      await writeFile(path.join(folder, NAME), text);
      expect(await migrate(client, { folder })).toEqual([NAME]);
      const { rows } = await client.query(
        `select told(), obj_description('labels'::regclass) as labels, obj_description('projects'::regclass) as projects`,
      );
      expect(rows).toEqual([{ told: 'a;b', labels: "words; of people's", projects: 'a -- b' }]);
    });

    it('does not hang with two processes that start at once', async () => {
      const { client, folder, connect } = await migrated();
      await writeFile(path.join(folder, NAME), TEXT);
      const applied = await Promise.all([migrate(client, { folder }), migrate(await connect(), { folder })]);
      expect(applied.toSorted((a, b) => a.length - b.length)).toEqual([[], [NAME]]);
    });
  });
});
