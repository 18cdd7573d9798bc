import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { testApp } from '../../test/harness.ts';
import { program, textAt } from './program.fixture.ts';

function creation(projectId: string, mode: string, kind: string, permission: string, name: string): readonly string[] {
  const options = { project: projectId, mode, kind, permission, name };
  return ['key', 'create', ...Object.entries(options).flatMap(([option, value]) => [`--${option}`, value])];
}

it('shows a key at its creation only, and revokes it by its id', async () => {
  const { database, projectId } = await testApp();
  const cointill = await program({ DATABASE_URL: database.url });
  const made = await cointill.json(...creation(projectId, 'live', 'public', 'write', 'Web shop'));
  const shared = { mode: 'live', kind: 'public', permission: 'write', scopes: null, name: 'Web shop' };
  const key = expect.stringMatching(/^pk_live_[0-9A-Za-z]{38}$/);
  expect(made).toEqual({ id: expect.stringMatching(/^key_[0-9a-z]{26}$/), key, ...shared });
  const id = textAt(made, 'id');
  const text = textAt(made, 'key');
  const [row] = await database.db.selectFrom('api_keys').selectAll().execute();
  expect(row?.hash).toEqual(createHash('sha256').update(text).digest());
  const listed = await cointill.run('key', 'list', '--project', projectId, '--json');
  const created = { created_at: expect.any(String), revoked_at: null, last_used_at: null, ends_at: null };
  expect(JSON.parse(listed.stdout)).toEqual([{ id, project_id: projectId, ...shared, ...created, replaced_by: null }]);
  expect(listed.stdout).not.toContain(text);

  expect(await cointill.json('key', 'revoke', id)).toEqual({ id, revoked: true });
  const afterwards = await cointill.run('key', 'list', '--project', projectId);
  expect(afterwards.stdout).toMatch(
    /^KEY ID .* REVOKED +NAME\nkey_\w+ +live +public +write +\S+Z +- +- +\S+Z +Web shop\n$/,
  );
});

it('rolls a key: a new one takes its place, and the old one ends', async () => {
  const { database, projectId } = await testApp();
  const cointill = await program({ DATABASE_URL: database.url });
  const made = await cointill.json(...creation(projectId, 'test', 'secret', 'read', 'Server'));
  const id = textAt(made, 'id');
  const rolled = await cointill.json('key', 'roll', id, '--overlap', '2');
  const shared = { mode: 'test', kind: 'secret', permission: 'read', scopes: null, name: 'Server' };
  const replaces = { id, ends_at: expect.stringMatching(/Z$/) };
  expect(rolled).toEqual({ id: expect.any(String), key: expect.stringMatching(/^sk_test_/), ...shared, replaces });
  const again = await cointill.run('key', 'roll', id);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('was already rolled and works until') });
});

it('makes a key of scopes, and names them in the list', async () => {
  const { database, projectId } = await testApp();
  const cointill = await program({ DATABASE_URL: database.url });
  const options = ['--project', projectId, '--mode', 'live', '--kind', 'secret', '--name', 'Reports'] as const;
  const create = (...grant: readonly string[]) => cointill.run('key', 'create', ...options, ...grant);
  const made = await cointill.json('key', 'create', ...options, '--scopes', 'payments:read,events');
  expect(made).toMatchObject({ permission: null, scopes: ['payments:read', 'events'] });
  expect((await cointill.run('key', 'list', '--project', projectId)).stdout).toMatch(
    /^key_\w+ +live +secret +payments:read,events /m,
  );
  expect(await create('--scopes', 'payments')).toMatchObject({ code: 2, stderr: expect.stringContaining('refunds') });
  expect(await create()).toMatchObject({ code: 2, stderr: expect.stringContaining('--permission') });
  expect(await create('--scopes', 'events', '--permission', 'full')).toMatchObject({ code: 2 });
});

it('marks a key in readable output as shown only once', async () => {
  const { database, projectId } = await testApp();
  const cointill = await program({ DATABASE_URL: database.url });
  const made = await cointill.run(...creation(projectId, 'test', 'secret', 'full', 'Server'));
  expect(made.stdout).toMatch(/\nKey {2}sk_test_[0-9A-Za-z]{38}\n {5}The key is shown only once, so save it now\./);
});

it('refuses what it does not know, and never repeats a key that was given in place of its id', async () => {
  const { database } = await testApp();
  const cointill = await program({ DATABASE_URL: database.url });
  const unknown = '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
  const key = 'sk_test_abcdefghijklmnopqrstuvwxyz012345678901';
  const [listed, revoked, wrong] = await Promise.all([
    cointill.run('key', 'list', '--project', unknown),
    cointill.run('key', 'revoke', 'key_00000000000000000000000000'),
    cointill.run('key', 'revoke', key),
  ]);
  const stderr = `There is no project ${unknown}. List projects with: cointill project list\n`;
  expect(listed).toEqual({ code: 1, stdout: '', stderr });
  expect(revoked).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('There is no such key.') });
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('This is a key, not the id') });
  expect(wrong.stderr).not.toContain(key);
});
