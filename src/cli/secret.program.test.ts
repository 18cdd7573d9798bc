import { rename, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { emptyDatabase, testDatabase } from '../../test/database.ts';
import { testApp } from '../../test/harness.ts';
import { receive } from '../webhooks/local-receivers.fixture.ts';
import { verifyServiceSignature } from '../webhooks/signature.ts';
import { program, textAt } from './program.fixture.ts';

const FORMER = 'f'.repeat(32);
const NEXT = 'n'.repeat(32);
const OTHER = 'o'.repeat(32);
const hook = (projectId: string, url: string) =>
  ['webhook', 'create', '--project', projectId, '--mode', 'test', '--url', url, '--events', 'all'] as const;

it('encrypts everything with the new SECRET_KEY, says when the former one may go, and what still needs it', async () => {
  const { database, projectId } = await testApp();
  const env = { DATABASE_URL: database.url };
  const former = await program({ ...env, SECRET_KEY: FORMER });
  const receiver = await receive((response) => response.end());
  const made = await former.json(...hook(projectId, `http://127.0.0.1:${receiver.port}/`));

  const both = await program({ ...env, SECRET_KEY: NEXT, SECRET_KEY_PREVIOUS: FORMER });
  // Made by a process that has both keys, while others have the former one alone.
  await both.json(...hook(projectId, 'http://127.0.0.1:9/'));
  expect(await former.run('webhook', 'rotate', textAt(made, 'id'))).toMatchObject({ code: 0 });
  const rotated = await both.run('secret', 'rotate');
  expect(rotated).toMatchObject({ code: 0, stderr: '' });
  expect(rotated.stdout).toMatch(/SECRET_KEY encrypts everything.*of 2\n.*SECRET_KEY_PREVIOUS.*Backups made before/s);
  const record = {
    rotated: false,
    key: 'setting',
    endpoints: 0,
    people: 0,
    unopened_endpoints: [],
    unopened_people: [],
  };
  expect(await both.json('secret', 'rotate')).toEqual(record);

  const next = await program({ ...env, SECRET_KEY: NEXT });
  const { secret } = (await next.json('webhook', 'rotate', textAt(made, 'id'))) as { secret: string };
  const sent = await next.json('webhook', 'test', textAt(made, 'id'), '--type', 'refund.failed');
  await next.json('webhook', 'retry', textAt(sent, 'delivery_id'));
  const [request] = receiver.requests;
  expect(verifyServiceSignature(secret, request?.body ?? '', String(request?.headers['x-service-signature']))).toBe(
    true,
  );
  expect((await next.run('secret', 'rotate')).stdout).toContain('already. To change the key, set SECRET_KEY to');
  const refused = await former.run('webhook', 'rotate', textAt(made, 'id'));
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('encrypted with another key') });
});

it.each([
  ['no', undefined, 'To change the key, set SECRET_KEY_PREVIOUS to the former key.'],
  ['the wrong', OTHER, 'SECRET_KEY_PREVIOUS is another key too.'],
])('with %s former key is refused, and changes nothing', async (_, previous, reason) => {
  const { database, projectId } = await testApp();
  const former = await program({ DATABASE_URL: database.url, SECRET_KEY: FORMER });
  await former.json(...hook(projectId, 'http://127.0.0.1:9/'));
  const settings = previous === undefined ? {} : { SECRET_KEY_PREVIOUS: previous };
  const next = await program({ DATABASE_URL: database.url, SECRET_KEY: NEXT, ...settings });
  const refused = await next.run('secret', 'rotate');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/encrypted with another key/);
  expect(refused.stderr).toContain(reason);
  expect((await former.run('secret', 'rotate')).stdout).toContain('already');
});

it('replaces a key file by another one, or by a SECRET_KEY, and makes no new one by itself', async () => {
  const database = await testDatabase();
  const env = { DATABASE_URL: database.url };
  const cointill = await program(env);
  const { projectId } = await testApp({ database });
  await cointill.json(...hook(projectId, 'http://127.0.0.1:9/'));
  const file = path.join(cointill.dataDir, 'secret.key');
  const former = path.join(cointill.dataDir, 'former.key');
  await rename(file, former);
  for (const previous of [{ SECRET_KEY_PREVIOUS: OTHER }, { SECRET_KEY_PREVIOUS_FILE: former }]) {
    const withoutNew = await program({ ...env, DATA_DIR: cointill.dataDir, ...previous });
    const refusal = expect.stringContaining('there is no new key. Set SECRET_KEY to the new key');
    for (const words of [['secret', 'rotate'], ['start']])
      expect(await withoutNew.run(...words)).toMatchObject({ code: 1, stderr: refusal });
    await expect(readFile(file)).rejects.toThrow(/ENOENT/);
  }
  await writeFile(file, `${Buffer.alloc(32, 7).toString('base64')}\n`);
  const both = await program({ ...env, DATA_DIR: cointill.dataDir, SECRET_KEY_PREVIOUS_FILE: former });
  expect(await both.json('secret', 'rotate')).toMatchObject({ rotated: true, key: 'file', endpoints: 1 });
  const setting = await program({ ...env, SECRET_KEY: NEXT, SECRET_KEY_PREVIOUS_FILE: file });
  expect(await setting.json('secret', 'rotate')).toMatchObject({ rotated: true, key: 'setting', endpoints: 1 });
});

it('on a restored copy changes the copy alone; backups of before and during a rotation restore with their key', async () => {
  const { database, projectId } = await testApp();
  const former = await program({ DATABASE_URL: database.url, SECRET_KEY: FORMER });
  await former.json(...hook(projectId, 'http://127.0.0.1:9/'));
  const both = await program({ DATABASE_URL: database.url, SECRET_KEY: NEXT, SECRET_KEY_PREVIOUS: FORMER });
  const file = path.join(both.dataDir, 'a.backup');
  await both.json('backup', file);
  const url = await emptyDatabase();
  const next = await program({ DATABASE_URL: url, SECRET_KEY: NEXT });
  const refused = await next.run('restore', file, '--to', url);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('SECRET_KEY_PREVIOUS beside the current') });
  const copy = await program({ DATABASE_URL: url, SECRET_KEY: NEXT, SECRET_KEY_PREVIOUS: FORMER });
  await copy.json('restore', file, '--to', url);
  expect(await copy.json('secret', 'rotate')).toMatchObject({ rotated: true, endpoints: 1 });
  expect((await next.run('secret', 'rotate')).stdout).toContain('already');
  expect((await former.run('secret', 'rotate')).stdout).toContain('already');
});
