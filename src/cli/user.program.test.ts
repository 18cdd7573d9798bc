import { CompiledQuery } from 'kysely';
import { expect, it } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import { freePort } from '../../test/ports.ts';
import { sealTotp } from '../app/people/totp.ts';
import { loadSealingKey } from '../webhooks/sealing-keys.ts';
import { program, textAt } from './program.fixture.ts';

const DASHBOARD_URL = 'https://pay.shop.example';
const LINK = /^https:\/\/pay\.shop\.example\/dashboard\/setup\/[\w-]{43}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

it('invites people, lists them, gives them roles, resets and deactivates them, and keeps who did it', async () => {
  const database = await testDatabase();
  const mail = { SMTP_URL: 'smtp://127.0.0.1:1025', MAIL_FROM: 'pay@shop.example' };
  const cointill = await program({ DATABASE_URL: database.url, DASHBOARD_URL, ...mail });
  const project = textAt(await cointill.json('project', 'create', '--name', 'Shop'), 'id');
  const email = 'ann@shop.example';
  const invited = await cointill.json('user', 'invite', '--email', email, '--role', 'support', '--project', project);
  expect(invited).toEqual({
    email,
    role: 'support',
    link: expect.stringMatching(LINK),
    expires_at: expect.stringMatching(TIME),
    mailed: true,
  });
  // Again: another link and another role, as long as there is no account.
  const again = await cointill.json('user', 'invite', '--email', email.toUpperCase(), '--role', 'viewer');
  expect(again).toMatchObject({ email, role: 'viewer' });
  expect(textAt(again, 'link')).not.toBe(textAt(invited, 'link'));
  const roles = (inProject: string) => [
    { role: inProject, project_id: project },
    { role: 'viewer', project_id: null },
  ];
  const ann = { email, state: 'invited', second_factor: false, last_seen_at: null };
  const [listed] = (await cointill.json('user', 'list')) as readonly unknown[];
  expect(listed).toMatchObject({ ...ann, roles: expect.arrayContaining(roles('support')) });
  expect(await cointill.json('user', 'role', email, '--role', 'admin', '--project', project)).toEqual({
    email,
    role: 'admin',
    project_id: project,
  });
  expect(await cointill.json('user', 'reset', email)).toEqual({
    email,
    link: expect.stringMatching(LINK),
    expires_at: expect.stringMatching(TIME),
  });
  expect(await cointill.json('user', 'sessions', email)).toEqual([]);
  expect(await cointill.json('user', 'deactivate', email)).toEqual({ email, deactivated: true, keys: [] });
  const text = await cointill.run('user', 'list');
  expect(text.stdout).toMatch(/ann@shop\.example +- +deactivated +no +- +/);

  const entries = (await cointill.json('audit', 'list')) as readonly { action: string; actor: object }[];
  expect(entries.map(({ action }) => action)).toEqual([
    'person.deactivate',
    'person.reset',
    'person.role',
    'person.invite',
    'person.invite',
    'project.create',
  ]);
  for (const { actor } of entries) expect(actor).toEqual({ kind: 'command', id: null, name: expect.any(String) });
  expect(JSON.stringify(entries)).not.toContain('/setup/');
  const page = await cointill.json('audit', 'list', '--project', project, '--limit', '1');
  expect(page).toEqual([expect.objectContaining({ action: 'person.role', project_id: project })]);
});

it('takes a role away, and says which roles in single projects still stand', async () => {
  const database = await testDatabase();
  const cointill = await program({ DATABASE_URL: database.url, DASHBOARD_URL });
  const project = textAt(await cointill.json('project', 'create', '--name', 'Shop'), 'id');
  const email = 'ben@shop.example';
  await cointill.json('user', 'invite', '--email', email, '--role', 'owner', '--project', project);
  const standing = [{ role: 'owner', project_id: project }];
  expect(await cointill.json('user', 'role', email, '--role', 'viewer')).toEqual({
    email,
    role: 'viewer',
    project_id: null,
    project_roles: standing,
  });
  expect(await cointill.json('user', 'invite', '--email', email, '--role', 'viewer')).toMatchObject({
    project_roles: standing,
  });
  const { stdout } = await cointill.run('user', 'role', email, '--role', 'viewer');
  expect(stdout).toContain(`${email} is now viewer in all projects.`);
  expect(stdout).toContain(`owner in project ${project}`);
  expect(stdout).toContain(`cointill user role ${email} --role none --project ID`);
  const taken = { email, role: null, project_id: project };
  expect(await cointill.json('user', 'role', email, '--role', 'none', '--project', project)).toEqual(taken);
  // A second time it changes nothing.
  const again = await cointill.run('user', 'role', email, '--role', 'none', '--project', project);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('is viewer there, as in all projects') });
  const [listed] = (await cointill.json('user', 'list')) as readonly unknown[];
  expect(listed).toMatchObject({ roles: [{ role: 'viewer', project_id: null }] });
  expect(await cointill.json('user', 'role', email, '--role', 'none')).toEqual({
    email,
    role: null,
    project_id: null,
    project_roles: [],
  });
  const [last, before] = (await cointill.json('audit', 'list')) as readonly unknown[];
  expect(last).toMatchObject({ action: 'person.role', project_id: null, before: { role: 'viewer' } });
  expect(before).toMatchObject({ action: 'person.role', project_id: project, before: { role: 'owner' } });
  // Somebody is invited with a role.
  expect(await cointill.run('user', 'invite', '--email', email, '--role', 'none')).toMatchObject({ code: 2 });
});

it('requires a second factor by role, says who has none, and switches that off again', async () => {
  const database = await testDatabase();
  const cointill = await program({ DATABASE_URL: database.url, DASHBOARD_URL });
  const email = 'ann@shop.example';
  await cointill.json('user', 'invite', '--email', email, '--role', 'owner', '--name', 'Ann Lee');
  await cointill.json('user', 'invite', '--email', 'ben@shop.example', '--role', 'viewer');
  await database.db.updateTable('people').set({ password_hash: 'x', joined_at: new Date() }).execute();
  const required = (...roles: readonly string[]) => cointill.json('user', 'require-second-factor', ...roles);
  expect(await required()).toEqual({ roles: [], without_second_factor: [] });
  const set = { roles: ['owner', 'admin'], without_second_factor: [email] };
  expect(await required('admin,owner')).toEqual(set);
  expect(await required()).toEqual(set);
  expect(await required('all')).toMatchObject({ without_second_factor: [email, 'ben@shop.example'] });
  expect((await cointill.run('user', 'require-second-factor', 'none')).stdout).toBe(
    'No role requires a second factor.\n',
  );
  expect(await required()).toEqual({ roles: [], without_second_factor: [] });
  expect(await cointill.run('user', 'require-second-factor', 'king')).toMatchObject({ code: 2 });
  const [last] = (await cointill.json('audit', 'list')) as readonly unknown[];
  expect(last).toMatchObject({ action: 'person.require_factors', actor: { kind: 'command' }, after: { roles: [] } });
  expect((await cointill.run('user', 'list')).stdout).toMatch(/ann@shop\.example +Ann Lee +active/);
});

it('names the keys of somebody who is deactivated, which still work', async () => {
  const database = await testDatabase();
  const cointill = await program({ DATABASE_URL: database.url, DASHBOARD_URL });
  const project = textAt(await cointill.json('project', 'create', '--name', 'Shop'), 'id');
  const email = 'ann@shop.example';
  await cointill.json('user', 'invite', '--email', email, '--role', 'developer');
  const create = ['key', 'create', '--project', project, '--mode', 'test', '--kind', 'secret'];
  const key = await cointill.json(...create, '--permission', 'full', '--name', 'Server');
  const person = await database.db.selectFrom('people').select('id').executeTakeFirstOrThrow();
  // The log says that the person made it in the dashboard.
  await database.db.executeQuery(
    CompiledQuery.raw(
      `insert into audit_log (id, at, actor_kind, actor_id, actor_name, action, project_id, subject_kind, subject_id)
       values ('0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', now(), 'person', $1, $2, 'key.create', $3, 'key', $4)`,
      [person.id, email, project, textAt(key, 'id')],
    ),
  );
  const { stdout } = await cointill.run('user', 'deactivate', email);
  expect(stdout).toContain('These keys that this person created still work:');
  expect(stdout).toMatch(new RegExp(`${textAt(key, 'id')} +${project} +test +secret +full +- +Server`));
  expect(stdout).toContain('cointill key revoke ID');
  const made = { id: textAt(key, 'id'), project_id: project, mode: 'test', permission: 'full', name: 'Server' };
  expect(await cointill.json('user', 'deactivate', email)).toMatchObject({ keys: [made] });
  await cointill.json('key', 'revoke', textAt(key, 'id'));
  expect(await cointill.json('user', 'deactivate', email)).toMatchObject({ keys: [] });
});

it('refuses to deactivate the last owner, or to give them another role', async () => {
  const database = await testDatabase();
  const cointill = await program({ DATABASE_URL: database.url, DASHBOARD_URL });
  const email = 'ann@shop.example';
  await cointill.json('user', 'invite', '--email', email, '--role', 'owner');
  await database.db.updateTable('people').set({ password_hash: 'x', joined_at: new Date() }).execute();
  for (const args of [
    ['deactivate', email],
    ['role', email, '--role', 'admin'],
    ['role', email, '--role', 'none'],
  ]) {
    const refusal = await cointill.run('user', ...args);
    expect(refusal).toMatchObject({ code: 1, stderr: expect.stringContaining('This person is the only one left') });
  }
});

it('starts with no other key than the one that seals one-time codes, until their owners are reset', async () => {
  const database = await testDatabase();
  const email = 'ann@shop.example';
  const [port, sandboxPort] = [String(await freePort()), String(await freePort())];
  const common = { DATABASE_URL: database.url, DASHBOARD_URL, PORT: port, SANDBOX_PORT: sandboxPort };
  const owner = await program({ ...common, SECRET_KEY: 'a'.repeat(32) });
  await owner.json('user', 'invite', '--email', email, '--role', 'owner');
  const person = await database.db.selectFrom('people').select('id').executeTakeFirstOrThrow();
  const key = loadSealingKey({ secretKey: 'a'.repeat(32), dataDir: owner.dataDir });
  await database.db
    .updateTable('people')
    .set({ password_hash: 'x', joined_at: new Date(), totp_secret: sealTotp(key, person.id, 'JBSWY3DPEHPK3PXP') })
    .execute();
  for (const role of ['all', 'api']) {
    const stranger = await program({ ...common, ROLE: role, SECRET_KEY: 'b'.repeat(32) });
    const { code, stderr } = await stranger.run('start');
    expect([role, code, stderr]).toEqual([
      role,
      1,
      expect.stringMatching(/secrets of one-time codes .* another key.*ann@shop\.example.*cointill user reset EMAIL/),
    ]);
  }
  const stranger = await program({ ...common, SECRET_KEY: 'b'.repeat(32) });
  expect((await stranger.run('recover', 'key')).stderr).toContain('cointill user reset EMAIL; then accept the new key');
  await stranger.json('user', 'reset', email);
  expect(await stranger.json('recover', 'key')).toEqual({ key: 'setting' });
  // Not even a process that would seal nothing begins with another key from then on.
  const former = await program({ ...common, ROLE: 'api', DASHBOARD: 'off', SECRET_KEY: 'a'.repeat(32) });
  expect(await former.run('start')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^This database was first used with another key\. .* cointill recover key$/m),
  });
});

it('refuses what makes no sense, with the way out', async () => {
  const database = await testDatabase();
  const cointill = await program({ DATABASE_URL: database.url });
  const nobody = await cointill.run('user', 'reset', 'nobody@shop.example');
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('cointill user list') });
  for (const args of [
    ['invite', '--email', 'not an address', '--role', 'owner'],
    ['invite', '--email', 'a@shop.example', '--role', 'king'],
    ['invite', '--email', 'a@shop.example'],
    ['invite', '--email', 'a@shop.example', '--role', 'owner', '--project', 'x'],
  ]) {
    expect(await cointill.run('user', ...args)).toMatchObject({ code: 2 });
  }
  const missing = '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
  const noProject = await cointill.run(
    'user',
    'invite',
    '--email',
    'a@b.example',
    '--role',
    'owner',
    '--project',
    missing,
  );
  expect(noProject).toMatchObject({ code: 1, stderr: expect.stringContaining('cointill project list') });
  const empty = await cointill.run('user', 'list');
  expect(empty.stdout).toContain('cointill user invite --email EMAIL --role owner');
  const off = await program({ DATABASE_URL: database.url, DASHBOARD: 'off' });
  const without = await off.run('user', 'invite', '--email', 'a@b.example', '--role', 'owner');
  expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('DASHBOARD') });
});
