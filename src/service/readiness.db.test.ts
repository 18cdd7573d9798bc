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
    readiness({ app: { ...app, db: handle.db }, handle, networks: [] }, LISTENING, {}, WITHIN_MS);
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

  it.each([
    ['redis', 'Redis is away', 'rate limits count in this process alone: ECONNREFUSED'],
    ['backups', 'scheduled backups fail', 'ECONNREFUSED'],
    ['mail', 'the mail server takes nothing', 'ECONNREFUSED'],
  ])('is ready but degraded by %s while %s, and says nothing of it where none is set', async (name, _when, shown) => {
    const { app } = await service();
    const readinessWith = (problem: string | null) => {
      const troubled = { problem: () => problem };
      const at = { app, handle: app.database, networks: [] };
      return readiness(at, LISTENING, { [name === 'mail' ? 'mailer' : name]: troubled });
    };
    const checks = { database: 'ok', notifications: 'ok' };
    expect(await readinessWith(null)).toEqual({ ok: true, checks: { ...checks, [name]: 'ok' }, degraded: false });
    expect(await readinessWith('ECONNREFUSED')).toEqual({
      ok: true,
      checks: { ...checks, [name]: shown },
      degraded: true,
    });
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
    const checks = { database: 'no answer on the connection that saves orders', notifications: 'ok' };
    expect(await ready(handle)).toMatchObject({ ok: false, checks });
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
      checks: { database: 'no answer on the connection that saves orders' },
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
