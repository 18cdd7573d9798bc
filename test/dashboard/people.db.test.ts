import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { PersonView } from '../../src/http/dashboard/people/contract.ts';
import { forActor } from '../../src/app/context.ts';
import { peopleOf, resetPerson } from '../../src/app/people/people.ts';
import { listAuditEntries, WHOLE_LOG } from '../../src/store/people/audit.ts';
import { updatePerson } from '../../src/store/people/people.ts';
import { DASHBOARD_URL, dashboardTest, PASSWORD, signedIn, type Browser } from '../dashboard.ts';

const test = await dashboardTest();
afterAll(() => test.http.close());
const { app } = test.http;
const owner = await test.join('owner');
/** The owner's, with reauthentication. */
let session: Browser;
beforeEach(async () => {
  session = await test.signIn(owner.email);
});

interface Refused {
  readonly error: { readonly type: string; readonly message: string };
}
const people = async (): Promise<readonly PersonView[]> => (await session.do('GET /dashboard/api/people')).data;
const messageOf = async (name: 'role' | 'deactivate' | 'invite', body: object): Promise<string> => {
  const answer = await session.call<Refused>({ method: 'POST', path: `/dashboard/api/people/${name}`, body });
  expect(answer.status).toBe(400);
  return answer.body.error.message;
};

it('the last owner keeps the role and the account, and the page’s sentence names no command', async () => {
  const { id } = owner;
  for (const message of [
    await messageOf('role', { id, role: 'viewer', project: null }),
    await messageOf('role', { id, role: null, project: null }),
    await messageOf('deactivate', { id }),
    await messageOf('invite', { email: owner.email, role: 'viewer' }),
  ]) {
    expect(message).toMatch(/This person is the only one left|already has an account/);
    expect(message).not.toContain('cointill');
  }
  expect(await people()).toMatchObject([{ id, state: 'active', memberships: [{ project: null, role: 'owner' }] }]);
});

it('nobody resets their own password among the people, where the link would go to whoever has the session', async () => {
  const answer = await session.call<Refused>({
    method: 'POST',
    path: '/dashboard/api/people/reset',
    body: { id: owner.id },
  });
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('your own password')]);
  expect(await session.session()).toMatchObject({ state: 'signed_in' });
  expect(await people()).toMatchObject([{ id: owner.id, state: 'active' }]);
});

it('two owners who reset each other at once leave one who can sign in', async () => {
  const own = await dashboardTest();
  onTestFinished(() => own.http.close());
  const shop = own.http.app;
  const [one, other] = [await own.join('owner'), await own.join('owner')];
  const reset = (by: typeof one, who: typeof one) => {
    const actor = { kind: 'person', id: by.id, name: by.email, ip: null } as const;
    return resetPerson(forActor(shop, actor), DASHBOARD_URL, { id: who.id });
  };
  const outcomes = await Promise.all([reset(one, other), reset(other, one)]);
  expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['done', 'rejected']);
  expect(outcomes.find(({ kind }) => kind === 'rejected')).toMatchObject({ code: 'last_owner' });
  const states = (await peopleOf(shop)).map(({ passwordHash }) => passwordHash !== null);
  expect(states.filter(Boolean)).toHaveLength(1);
  // The operator can still help the last one, and gets the link.
  for (const { id } of [one, other]) {
    expect(await resetPerson(shop, DASHBOARD_URL, { id })).toMatchObject({ kind: 'done' });
  }
});

it('of two owners who change a role the second is told what it is now', async () => {
  const { id, email } = await test.join('support');
  const change = { id, project: null, seen: 'support' } as const;
  await session.do('POST /dashboard/api/people/role', { ...change, role: 'developer' });
  const second = await session.try('POST /dashboard/api/people/role', { ...change, role: 'viewer' });
  expect([second.status, second.text]).toEqual([409, expect.stringContaining(`${email} now has the role developer`)]);
  expect((await people()).find((one) => one.id === id)?.memberships).toEqual([{ project: null, role: 'developer' }]);
});

it('a second factor that is removed ends all sessions, keeps the password, and the log says who did it', async () => {
  const member = await test.join('admin');
  await app.db.transaction().execute((trx) => updatePerson(trx, member.id, { sealedTotp: Buffer.from('sealed') }));
  const { person } = await session.do('POST /dashboard/api/people/remove-factors', { id: member.id });
  expect(person).toMatchObject({ has_second_factor: false, state: 'active' });
  expect(await member.browser.session()).toMatchObject({ state: 'signed_out' });
  expect(signedIn(await (await test.signIn(member.email)).session()).person.id).toBe(member.id);
  const entries = await listAuditEntries(app.db, { ...WHOLE_LOG, group: 'person' }, { after: null, limit: 100 });
  const entry = entries.find(({ action }) => action === 'person.remove_factors');
  expect(entry).toMatchObject({
    actor: { id: owner.id, name: owner.email },
    subject: { id: member.id },
    before: { totp: true, passkeys: [] },
  });
  expect(JSON.stringify(entry)).not.toContain(Buffer.from('sealed').toString('base64'));
  const again = await session.try('POST /dashboard/api/people/remove-factors', { id: member.id });
  expect([again.status, again.text]).toEqual([400, expect.stringContaining('has no second factor')]);
});

it('an owner sees and ends a colleague’s sessions, and those of nobody else by that path', async () => {
  const member = await test.join('viewer');
  const path = `/dashboard/api/people/${member.id}/sessions`;
  const { body } = await session.call<{ data: readonly { id: string; is_current: boolean }[] }>({ path });
  expect(body.data).toMatchObject([{ is_current: false }]);
  const own = signedIn(await session.session()).session.id;
  const end = (id: string) => session.call({ method: 'POST', path: `${path}/end`, body: { id } });
  expect((await end(own)).status).toBe(404);
  expect((await end(body.data[0]?.id ?? '')).status).toBe(200);
  expect(await member.browser.session()).toMatchObject({ state: 'signed_out' });
  await test.signIn(member.email);
  expect((await session.call({ method: 'POST', path: `${path}/end-all`, body: {} })).status).toBe(200);
  expect((await session.call<{ data: readonly unknown[] }>({ path })).body.data).toEqual([]);
  const nobody = '/dashboard/api/people/00000000-0000-7000-8000-000000000000/sessions';
  expect((await session.call({ path: nobody })).status).toBe(404);
});

it('the link of an invitation is in its answer alone', async () => {
  const made = await session.do('POST /dashboard/api/people/invite', { email: 'new@shop.example', role: 'viewer' });
  const token = made.link.split('/').at(-1) ?? '';
  const log = await session.do('GET /dashboard/api/audit');
  expect(JSON.stringify([await people(), log, test.http.logged])).not.toContain(token);
});

describe('the keys that a person made', () => {
  const { projectId } = app;
  const keysOf = async (id: string): Promise<Pick<PersonView, 'keys' | 'keys_elsewhere'>> => {
    const found = (await people()).find((one) => one.id === id);
    return { keys: found?.keys ?? [], keys_elsewhere: found?.keys_elsewhere ?? 0 };
  };
  const make = async (browser: Browser, body: object, mode = 'test'): Promise<string> => {
    const path = `/dashboard/api/projects/${projectId}/${mode}/keys`;
    const answer = await browser.call<{ key: { id: string } }>({ method: 'POST', path, body });
    expect(answer.status).toBe(200);
    app.clock.advance(1);
    return answer.body.key.id;
  };
  const act = async (id: string, what: string, body: object = {}) => {
    const path = `/dashboard/api/projects/${projectId}/test/keys/${id}/${what}`;
    expect((await session.call({ method: 'POST', path, body })).status).toBe(200);
  };

  it('are named as long as they work, also once their maker is deactivated', async () => {
    const member = await test.join('developer');
    const server = await make(member.browser, { name: 'Server', kind: 'secret', permission: 'full' });
    const revoked = await make(member.browser, { name: 'Old', kind: 'secret', permission: 'read' });
    const rolled = await make(member.browser, { name: 'Rolled', kind: 'secret', permission: 'read' });
    const scopes = ['payments:read'];
    const report = await make(member.browser, { name: 'Report', kind: 'secret', scopes }, 'live');
    await make(session, { name: 'Mine', kind: 'secret', permission: 'full' });
    await act(revoked, 'revoke');
    // The new key is known to whoever rolled it.
    await act(rolled, 'roll', { overlap_hours: 1 });
    const common = { project: projectId, kind: 'secret', last_used_at: null };
    const lasting = [
      { ...common, id: server, name: 'Server', mode: 'test', permission: 'full', scopes: null },
      { ...common, id: report, name: 'Report', mode: 'live', permission: null, scopes },
    ];
    const ending = { ...common, id: rolled, name: 'Rolled', mode: 'test', permission: 'read', scopes: null };
    expect(await keysOf(member.id)).toEqual({ keys: expect.arrayContaining([...lasting, ending]), keys_elsewhere: 0 });
    app.clock.advance(60 * 60_000);
    await session.do('POST /dashboard/api/reauthenticate', { password: PASSWORD });
    const { person } = await session.do('POST /dashboard/api/people/deactivate', { id: member.id });
    expect(person.keys).toEqual(lasting);
    expect(await keysOf(member.id)).toEqual({ keys: lasting, keys_elsewhere: 0 });
    expect((await keysOf(owner.id)).keys.map(({ name }) => name).toSorted()).toEqual(['Mine', 'Rolled']);
  });

  it('are only counted in projects whose keys the reader may not see', async () => {
    const maker = await test.join('developer');
    await make(maker.browser, { name: 'Hidden', kind: 'secret', permission: 'full' });
    const admin = await test.join('admin');
    const change = { id: admin.id, role: 'viewer', project: projectId } as const;
    await session.do('POST /dashboard/api/people/role', change);
    const { data } = await admin.browser.do('GET /dashboard/api/people');
    expect(data.find(({ id }) => id === maker.id)).toMatchObject({ keys: [], keys_elsewhere: 1 });
    expect(JSON.stringify(data)).not.toContain('Hidden');
  });
});
