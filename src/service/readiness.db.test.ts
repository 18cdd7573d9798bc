import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { databaseProxy } from '../../test/database-proxy.ts';
import { testApp } from '../../test/harness.ts';
import type { DatabaseHandle } from '../store/database.ts';
import { readiness } from './readiness.ts';
import { PROMPT_MS } from '../../test/deadline.ts';

const LISTENING = { problem: () => null };
/** Long enough for a machine that is busy with other things, since what answers must. */
const WITHIN_MS = 2_000;
/** Far beyond what the test takes: what it sees is not a statement that was given up. */
const NEVER_MS = 600_000;

async function service() {
  const app = await testApp();
  const proxy = await databaseProxy(app.database);
  const ready = (handle: DatabaseHandle) =>
    readiness({ app: { ...app, db: handle.db }, handle, networks: [] }, LISTENING, [], WITHIN_MS);
  return { app, proxy, ready };
}

describe('the service', () => {
  it('is ready while both the pool and the connection that saves orders are answered', async () => {
    const { proxy, ready } = await service();
    expect(await ready(proxy.open(NEVER_MS))).toEqual({
      ok: true,
      checks: { database: 'ok', notifications: 'ok' },
      degraded: false,
    });
  });

  it('is ready but degraded by a part that fails, says why, and asks for no other', async () => {
    const { app } = await service();
    const readinessWith = (problem: string | null) => {
      const parts = [
        { name: 'mail', problem: () => problem },
        { name: 'disk', problem: () => Promise.resolve(problem) },
      ];
      return readiness({ app, handle: app.database, networks: [] }, LISTENING, parts);
    };
    const checks = { database: 'ok', notifications: 'ok' };
    expect(await readinessWith(null)).toEqual({
      ok: true,
      checks: { ...checks, mail: 'ok', disk: 'ok' },
      degraded: false,
    });
    expect(await readinessWith('ECONNREFUSED')).toEqual({
      ok: true,
      checks: { ...checks, mail: 'ECONNREFUSED', disk: 'ECONNREFUSED' },
      degraded: true,
    });
  });

  it('is not ready from the first statement that the full disk of its database refused, until it takes some again', async () => {
    const { app, ready } = await service();
    const { db } = app.database;
    // A full disk refuses an order's statement, and every other statement that needs more room.
    const full = sql`create function full_disk() returns event_trigger language plpgsql as
      $$ begin raise 'could not extend file' using errcode = 'disk_full'; end $$`;
    await full.execute(db);
    await sql`create event trigger full_disk on ddl_command_start execute function full_disk()`.execute(db);
    expect(await ready(app.database)).toMatchObject({ ok: true });
    const refused = app.database.pipeline.executeQuery(sql`create table of_an_order ()`.compile(db));
    await expect(refused).rejects.toThrow('could not extend file');
    const checks = { database: 'refuses to save orders: could not extend file', notifications: 'ok' };
    expect(await ready(app.database)).toEqual({ ok: false, checks, degraded: false });
    expect(await ready(app.database)).toMatchObject({ ok: false });
    await sql`drop event trigger full_disk`.execute(db);
    expect(await ready(app.database)).toMatchObject({ ok: true });
    // It writes for its own sake only while it has to.
    await sql`create event trigger full_disk on ddl_command_start execute function full_disk()`.execute(db);
    expect(await ready(app.database)).toMatchObject({ ok: true });
  });

  it('says in time that it is not ready when the database has fallen silent', async () => {
    const { proxy, ready } = await service();
    // The pool gives its statement up too, but only later.
    const handle = proxy.open(2 * PROMPT_MS);
    await ready(handle);
    proxy.silence('everything');
    const askedAt = performance.now();
    expect(await ready(handle)).toMatchObject({ ok: false, checks: { database: 'not reachable' } });
    expect(performance.now() - askedAt).toBeLessThan(PROMPT_MS);
  });

  it('is not ready when only the connection that saves orders has fallen silent', async () => {
    const { app, proxy, ready } = await service();
    const silent = proxy.open(2 * WITHIN_MS);
    const handle: DatabaseHandle = { ...app.database, pipeline: silent.pipeline };
    await ready(handle);
    proxy.silence('everything');
    const database = expect.stringMatching(
      /^the connection that saves orders does not respond; a pooler may have too few/,
    );
    expect(await ready(handle)).toMatchObject({ ok: false, checks: { database, notifications: 'ok' } });
  });

  it('asks nothing on the connection that saves orders while it saves some: how long they wait is known', async () => {
    const { app, ready } = await service();
    const saving = (unansweredMs: number): DatabaseHandle => ({
      ...app.database,
      pipeline: {
        ...app.database.pipeline,
        executeQuery: () => Promise.reject(new Error('asked in vain')),
        unansweredMs: () => unansweredMs,
      },
    });
    expect(await ready(saving(WITHIN_MS - 1))).toMatchObject({ ok: true });
    expect(await ready(saving(WITHIN_MS))).toMatchObject({
      ok: false,
      checks: { database: expect.stringContaining('the connection that saves orders does not respond') },
    });
  });

  it('reports the oldest statement that has no answer on the connection which saves orders', async () => {
    const { app } = await service();
    const { pipeline } = app.database;
    expect(pipeline.unansweredMs()).toBeNull();
    const asked = pipeline.executeQuery(sql`select pg_sleep(0.05)`.compile(app.db));
    expect(pipeline.unansweredMs()).toBeGreaterThanOrEqual(0);
    await asked;
    expect(pipeline.unansweredMs()).toBeNull();
  });
});
