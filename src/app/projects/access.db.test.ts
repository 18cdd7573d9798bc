import { sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { databaseProxy } from '../../../test/database-proxy.ts';
import { testApp, type TestApp } from '../../../test/harness.ts';
import type { DatabaseHandle } from '../../store/database.ts';
import { listen, notifyAccess, type Notifications } from '../../store/notifications.ts';
import { createAccess, type Access } from './access.ts';
import { changeProject, createProject } from './projects.ts';
import { createKey, removeKey } from './keys.ts';
import { DEADLINE_MS, PROMPT_MS, WAIT } from '../../../test/deadline.ts';

/** Far beyond what a test takes. */
const NEVER_MS = 600_000;

interface Node {
  readonly access: Access;
  readonly notifications: Notifications;
  /** Resolves when the node was told of a change. */
  readonly notified: () => Promise<void>;
}

/** The access of another process on the same database. */
async function node(app: TestApp, handle: DatabaseHandle = app.database): Promise<Node> {
  const notifications = listen(handle);
  onTestFinished(() => notifications.stop());
  const access = createAccess(app.db, notifications, app.clock);
  let listeners: (() => void)[] = [];
  notifications.on('access', () => {
    for (const listener of listeners.splice(0)) listener();
  });
  await untilHealthy(notifications);
  return { access, notifications, notified: () => new Promise((resolve) => listeners.push(resolve)) };
}

const untilHealthy = (notifications: Notifications): Promise<void> =>
  vi.waitFor(() => expect(notifications.healthy()).toBe(true), { interval: 5, timeout: DEADLINE_MS });

async function newKey(app: TestApp): Promise<{ readonly id: string; readonly key: string }> {
  const request = { projectId: app.projectId, mode: 'test', kind: 'secret', permission: 'full', name: 'Shop' } as const;
  const made = await createKey(app, request);
  if (made.kind !== 'done') throw new Error(made.code);
  return { id: made.stored.id, key: made.key };
}

/**
 * A cached answer comes without waiting. A read that was needed is waited for, or it would outlive its test's database.
 */
async function isCached(access: Access, key: string): Promise<boolean> {
  const answer = access.find(key);
  await answer;
  return !(answer instanceof Promise);
}

it('a key is found with its project and then kept; unknown and mistyped keys are not found', async () => {
  const app = await testApp();
  const { key } = await newKey(app);
  const { access } = await node(app);
  expect(await isCached(access, key)).toBe(false);
  expect(await access.find(key)).toMatchObject({
    mode: 'test',
    kind: 'secret',
    permission: 'full',
    project: { id: app.projectId, active: true, allowIps: [], allowOrigins: [] },
  });
  expect(await isCached(access, key)).toBe(true);
  expect(access.find(`${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`)).toBeNull();
  expect(access.find('')).toBeNull();
  const other = await testApp();
  const { key: foreign } = await newKey(other);
  expect(await access.find(foreign)).toBeNull();
  expect(await isCached(access, foreign)).toBe(false);
});

it('a revoked key stops working on every node at once', async () => {
  const app = await testApp();
  const { id, key } = await newKey(app);
  const nodes = [await node(app), await node(app)];
  for (const { access } of nodes) {
    await access.find(key);
    expect(await isCached(access, key)).toBe(true);
  }
  const notified = nodes.map((each) => each.notified());
  const startedMs = performance.now();
  expect(await removeKey(app, id)).toMatchObject({ kind: 'done' });
  await Promise.all(notified);
  for (const { access } of nodes) expect(await access.find(key)).toBeNull();
  expect(performance.now() - startedMs).toBeLessThan(PROMPT_MS);
});

it('an answer that was read while something changed is not kept', async () => {
  const app = await testApp();
  const { id, key } = await newKey(app);
  const { access, notified } = await node(app);
  // The read sees the keys as they are and then waits, while the key is revoked.
  await sql`alter table api_keys rename to stored_keys`.execute(app.db);
  await sql`create view api_keys as
    select * from stored_keys where pg_advisory_xact_lock_shared(7)::text = ''`.execute(app.db);
  let reading: unknown = null;
  await app.db.transaction().execute(async (trx) => {
    // It waits for others here, as no transaction of the program does.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
    await sql`select pg_advisory_xact_lock(7)`.execute(trx);
    reading = access.find(key);
    await vi.waitFor(
      async () => {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event = 'advisory'`.execute(app.db);
        expect(rows).toHaveLength(1);
      },
      { interval: 5, timeout: WAIT.timeout },
    );
    const changed = notified();
    await sql`update stored_keys set revoked_at = now() where id = ${id}`.execute(app.db);
    await notifyAccess(app.db);
    await changed;
  });
  expect(await reading).not.toBeNull();
  expect(await isCached(access, key)).toBe(false);
  expect(await access.find(key)).toBeNull();
});

it('a project that becomes inactive or changes its allow-lists is seen so by every node', async () => {
  const app = await testApp();
  const { key } = await newKey(app);
  const { access, notified } = await node(app);
  const origin = 'https://shop.example';
  await access.find(key);
  expect(await access.anyProjectAllows(origin)).toBe(false);
  const changes = { allowIps: ['10.0.0.0/8', '2001:db8::1'], allowOrigins: [origin] };
  let changed = notified();
  await changeProject(app, app.projectId, changes);
  await changed;
  expect(await access.find(key)).toMatchObject({ project: { active: true, ...changes } });
  expect(await access.anyProjectAllows(origin)).toBe(true);
  expect(access.anyProjectAllows(origin)).toBe(true);
  changed = notified();
  await changeProject(app, app.projectId, { active: false });
  await changed;
  expect(await access.find(key)).toMatchObject({ project: { active: false, ...changes } });
  // An origin is allowed as long as one active project allows it.
  expect(await access.anyProjectAllows(origin)).toBe(false);
  const second = await createProject(app, 'Second');
  if (second.kind !== 'done') throw new Error(second.code);
  changed = notified();
  await changeProject(app, second.project.id, { allowOrigins: [origin] });
  await changed;
  expect(await access.anyProjectAllows(origin)).toBe(true);
});

it('what strangers make up is asked of memory, and takes nothing else from it', async () => {
  const app = await testApp();
  const { key } = await newKey(app);
  const { access, notified } = await node(app);
  const changed = notified();
  await changeProject(app, app.projectId, { allowOrigins: ['https://shop.example'] });
  await changed;
  expect(await access.anyProjectAllows('https://shop.example')).toBe(true);
  expect(await access.find(key)).not.toBeNull();
  const reads = vi.spyOn(app.db, 'selectFrom');
  const answers = new Set<unknown>();
  for (let index = 0; index < 2_000; index += 1) {
    answers.add(access.anyProjectAllows(`https://${index}.example`));
    answers.add(access.hasLogo(String(index).padStart(64, '0')));
  }
  expect([...answers]).toEqual([false]);
  expect(access.anyProjectAllows('https://shop.example')).toBe(true);
  expect(await isCached(access, key)).toBe(true);
  expect(reads).not.toHaveBeenCalled();
});

it('a key that this process never found is looked up only if the client is admitted', async () => {
  const app = await testApp();
  const [one, two] = [await newKey(app), await newKey(app)];
  const { access, notified } = await node(app);
  const refuse = () => Promise.reject(new Error('too many'));
  expect(await access.find(one.key)).not.toBeNull();
  await expect(access.find(two.key, refuse)).rejects.toThrow('too many');
  expect(await access.find(one.key, refuse)).not.toBeNull();
  // Known keys are looked up again after a change.
  const changed = notified();
  await changeProject(app, app.projectId, { allowIps: ['10.0.0.1'] });
  await changed;
  expect(await access.find(one.key, refuse)).toMatchObject({ project: { allowIps: ['10.0.0.1'] } });
});

it('nothing is cached while notifications are down, and what was cached is forgotten', async () => {
  const app = await testApp();
  const { id, key } = await newKey(app);
  let isAway = false;
  const { access, notifications } = await node(app, {
    ...app.database,
    connect: () => (isAway ? Promise.reject(new Error('connection refused')) : app.database.connect()),
  });
  await access.find(key);
  expect(await isCached(access, key)).toBe(true);
  isAway = true;
  const isDown = new Promise<void>((resolve) => notifications.onDown(resolve));
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(app.db);
  await isDown;
  for (let index = 0; index < 3; index += 1) {
    expect(await isCached(access, key)).toBe(false);
    expect(await access.find(key)).not.toBeNull();
    expect(await access.anyProjectAllows('https://shop.example')).toBe(false);
    const again = access.anyProjectAllows('https://shop.example');
    expect(again).toBeInstanceOf(Promise);
    await again;
  }
  await removeKey(app, id);
  expect(await access.find(key)).toBeNull();
  isAway = false;
  await untilHealthy(notifications);
  expect(await access.find(key)).toBeNull();
});

it('a key revoked behind a pooler that swallows notifications is refused within a second', async () => {
  const app = await testApp();
  const { id, key } = await newKey(app);
  const proxy = await databaseProxy(app.database);
  proxy.withholdNotifications();
  const withheld: string[] = [];
  const notifications = listen(proxy.open(NEVER_MS), { onWithheld: (problem) => withheld.push(problem) });
  onTestFinished(() => notifications.stop());
  const access = createAccess(app.db, notifications, app.clock);
  await vi.waitFor(() => expect(notifications.healthy() || withheld.length > 0).toBe(true), WAIT);
  expect(await access.find(key)).not.toBeNull();
  await removeKey(app, id);
  expect(await access.find(key)).toBeNull();
  expect(notifications.healthy()).toBe(false);
});

it('an answer is not kept when notifications came back only while it was being read', async () => {
  const app = await testApp();
  const { key } = await newKey(app);
  let isHealthy = false;
  const silent: Notifications = {
    healthy: () => isHealthy,
    on: () => {},
    onUp: () => {},
    onDown: () => {},
    stop: () => Promise.resolve(),
  };
  const access = createAccess(app.db, silent, app.clock);
  const reading = access.find(key);
  isHealthy = true;
  await reading;
  expect(await isCached(access, key)).toBe(false);
  expect(await isCached(access, key)).toBe(true);
});
