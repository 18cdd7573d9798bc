import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { testApp } from '../../test/harness.ts';
import { parseKey } from '../domain/api-key.ts';
import { changeProject, createKey, createProject, keysOf, projectsOf, removeKey } from './projects.ts';

const UNKNOWN = '019bbf3a-0000-7000-8000-00000000dead';

describe('a project', () => {
  it('is made active and open, and is listed in the order of making', async () => {
    const app = await testApp();
    app.clock.advance(1);
    const made = await createProject(app, '  Café  ');
    const project = { name: 'Café', active: true, allowIps: [], allowOrigins: [], createdAt: app.clock() };
    expect(made).toMatchObject({ kind: 'done', project });
    expect(await projectsOf(app)).toMatchObject([{ id: app.projectId, name: 'Shop' }, project]);
  });

  it('is not made with an empty, long or unprintable name', async () => {
    const app = await testApp();
    for (const name of ['', '   ', 'a'.repeat(101), 'two\nlines', 'NUL \0', 'half \uD800']) {
      const rejected = { kind: 'rejected', message: expect.stringContaining('--name') };
      expect({ name, ...(await createProject(app, name)) }).toMatchObject(rejected);
    }
    expect(await projectsOf(app)).toHaveLength(1);
  });

  it('changes what is given and nothing else; an empty list opens it again', async () => {
    const app = await testApp();
    const change = (changes: Parameters<typeof changeProject>[2]) => changeProject(app, app.projectId, changes);
    const allowIps = ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7'];
    expect(await change({ allowIps })).toMatchObject({ project: { active: true, allowIps } });
    expect(await change({ active: false })).toMatchObject({ project: { active: false, allowIps } });
    expect(await change({ allowOrigins: ['https://Shop.example:443/', 'http://localhost:3000'] })).toMatchObject({
      project: { active: false, allowIps, allowOrigins: ['https://shop.example', 'http://localhost:3000'] },
    });
    expect(await change({ active: true, allowIps: [], allowOrigins: [] })).toMatchObject({
      project: { active: true, allowIps: [], allowOrigins: [] },
    });
  });

  it('is left as it is by anything that is no list of ranges or origins', async () => {
    const app = await testApp();
    const bad = [
      [{ allowIps: ['10.0.0.0/8', '10.0.0.0/33'] }, '--allow-ips'],
      [{ allowIps: ['shop.example'] }, '--allow-ips'],
      [{ allowOrigins: ['shop.example'] }, '--allow-origins'],
      [{ allowOrigins: ['https://shop.example/path'] }, '--allow-origins'],
      [{ allowOrigins: ['https://user@shop.example'] }, '--allow-origins'],
      [{ allowOrigins: ['ftp://shop.example'] }, '--allow-origins'],
      [{ allowOrigins: ['*'] }, '--allow-origins'],
      [{ allowOrigins: ['null'] }, '--allow-origins'],
    ] as const;
    for (const [changes, option] of bad) {
      const rejected = { kind: 'rejected', message: expect.stringContaining(option) };
      const changed = await changeProject(app, app.projectId, { active: false, ...changes });
      expect({ changes, ...changed }).toMatchObject(rejected);
    }
    expect(await projectsOf(app)).toMatchObject([{ active: true, allowIps: [], allowOrigins: [] }]);
  });

  it('that is unknown is named in the answer', async () => {
    const app = await testApp();
    const rejected = { kind: 'rejected', message: expect.stringContaining(UNKNOWN) };
    expect(await changeProject(app, UNKNOWN, { active: false })).toMatchObject(rejected);
    expect(await keysOf(app, UNKNOWN)).toMatchObject(rejected);
  });
});

describe('a key', () => {
  const request = { mode: 'live', kind: 'public', permission: 'write', name: ' Till 1 ' } as const;

  it('is shown once: only its hash is kept', async () => {
    const app = await testApp();
    const made = await createKey(app, { ...request, projectId: app.projectId });
    if (made.kind !== 'done') throw new Error(made.message);
    expect(made.key).toMatch(/^pk_live_[0-9A-Za-z]{38}$/);
    expect(parseKey(made.key)).not.toBeNull();
    const row = await app.db.selectFrom('api_keys').selectAll().executeTakeFirstOrThrow();
    expect(row.hash).toEqual(createHash('sha256').update(made.key).digest());
    expect(
      JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain(made.key.slice(8, 20));
    expect(await keysOf(app, app.projectId)).toEqual({ kind: 'done', keys: [made.stored] });
    expect(made.stored).toMatchObject({ ...request, name: 'Till 1', revokedAt: null });
  });

  it('is refused for an unknown project or a bad name', async () => {
    const app = await testApp();
    expect(await createKey(app, { ...request, projectId: UNKNOWN })).toMatchObject({ kind: 'rejected' });
    expect(await createKey(app, { ...request, projectId: app.projectId, name: '\t' })).toMatchObject({
      kind: 'rejected',
    });
    expect(await keysOf(app, app.projectId)).toEqual({ kind: 'done', keys: [] });
  });

  it('that is revoked stays listed, and stays revoked as it was', async () => {
    const app = await testApp();
    const made = await createKey(app, { ...request, projectId: app.projectId });
    if (made.kind !== 'done') throw new Error(made.message);
    app.clock.advance(1_000);
    const revokedAt = app.clock();
    expect(await removeKey(app, made.stored.id)).toEqual({ kind: 'done' });
    app.clock.advance(1_000);
    expect(await removeKey(app, made.stored.id)).toEqual({ kind: 'done' });
    expect(await keysOf(app, app.projectId)).toMatchObject({ keys: [{ id: made.stored.id, revokedAt }] });
    expect(await removeKey(app, UNKNOWN)).toMatchObject({ kind: 'rejected' });
  });
});
