import { sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { standby } from '../standby.ts';
import { createProject } from '../../src/app/projects/projects.ts';
import { readiness } from '../../src/service/readiness.ts';
import { asRequestError } from '../../src/http/errors.ts';
import { testApp } from '../harness.ts';
import { testService } from '../program.ts';
import { checkPool, checkWrites } from '../../src/store/backups/check-database.ts';
import { openDatabase, type Connection, type DatabaseHandle } from '../../src/store/database.ts';
import { WAIT } from '../deadline.ts';

function open(connection: Connection, maxConnections: number): DatabaseHandle {
  const handle = openDatabase(connection, { maxConnections, onError: () => {} });
  onTestFinished(() => handle.close());
  return handle;
}

const SESSION = sql<{ pid: number }>`select pg_backend_pid() as pid`;
const WRITE = sql`delete from leases`;

/** The session of the pool's only connection. */
const session = async ({ db }: DatabaseHandle): Promise<unknown> => (await SESSION.execute(db)).rows;

it('a write on a replica asks the client to try again, and costs the connection, so that the next may lead elsewhere', async () => {
  const handle = open((await standby()).connection, 1);
  const { db, pipeline } = handle;
  const writes = [
    () => WRITE.execute(db),
    () => db.transaction().execute(async (trx) => WRITE.execute(trx)),
    () => sql`select pg_notify('cointill', 'access')`.execute(db),
    () => pipeline.executeQuery(WRITE.compile(db)),
  ];
  for (const write of writes) {
    const before = [await session(handle), await pipeline.executeQuery(SESSION.compile(db))];
    const fault: unknown = await write().catch((error: unknown) => error);
    expect(asRequestError(fault)).toMatchObject({ type: 'service_unavailable', status: 503 });
    expect(fault).toMatchObject({ code: '25006' });
    await vi.waitFor(
      async () => expect([await session(handle), await pipeline.executeQuery(SESSION.compile(db))]).not.toEqual(before),
      WAIT,
    );
  }
});

it('the service does not start on a replica, and says which setting leads to it', async () => {
  const { url } = await standby();
  const service = await testService({ DATABASE_URL: url });
  const { code, stdout, stderr } = await service.cointill.run('start');
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'DATABASE_URL leads to a replica, which accepts no writes. Set DATABASE_URL to the primary, or to an address that always leads there.\n',
  });
});

it('a service whose database became a replica is not ready, and says why', async () => {
  const handle = open((await standby()).connection, 2);
  const app = await testApp();
  const core = { app: { ...app, db: handle.db }, handle, networks: [] };
  expect(await readiness(core, { problem: () => null })).toMatchObject({
    ok: false,
    checks: { database: 'DATABASE_URL leads to a replica, which accepts no writes' },
  });
});

it('a replica is refused at start, with the setting that leads to it', async () => {
  const handle = open((await standby()).connection, 2);
  const client = await handle.connect();
  onTestFinished(() => client.end());
  await expect(checkWrites(client, 'DATABASE_DIRECT_URL')).rejects.toThrow(
    /^DATABASE_DIRECT_URL leads to a replica, which accepts no writes\. Set DATABASE_DIRECT_URL to the primary/,
  );
  await expect(checkPool(handle.db)).rejects.toThrow(/^DATABASE_URL leads to a replica/);
});

it('a database that was made read-only is reported as such, and one that takes writes is accepted', async () => {
  const app = await testApp();
  await checkPool(app.db);
  const name = new URL(app.database.url).pathname.slice(1);
  await sql.raw(`alter database ${name} set default_transaction_read_only = on`).execute(app.db);
  const handle = open({ connectionString: app.database.url }, 2);
  await expect(checkPool(handle.db)).rejects.toThrow(/^DATABASE_URL leads to a database that was made read-only/);
  const fault: unknown = await createProject({ ...app, db: handle.db }, 'Shop').catch((error: unknown) => error);
  expect(asRequestError(fault)).toMatchObject({ status: 503 });
});
