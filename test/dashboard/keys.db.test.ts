import { sql } from 'kysely';
import { afterAll, beforeEach, expect, it } from 'vitest';
import type { Mode } from '../../src/domain/permission.ts';
import type { AccessView, KeyView } from '../../src/http/dashboard/keys/contract.ts';
import { listAuditEntries, WHOLE_LOG } from '../../src/store/people/audit.ts';
import { MAX_KEY_CLIENTS } from '../../src/store/projects/key-clients.ts';
import { dashboardTest, PASSWORD, type Browser } from '../dashboard.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const test = await dashboardTest();
afterAll(() => test.http.close());
const { app, keyUses, clock } = test.http;
const owner = await test.join('owner');
/** The owner's, with reauthentication. */
let session: Browser;
beforeEach(async () => {
  session = await test.signIn(owner.email);
});
/** Clients elsewhere come through a proxy. */
const proxied = test.http.build({ side: 'test', trustProxy: ['127.0.0.1'] });
await proxied.ready();

const keysOf = (projectId: string, mode: Mode = 'test') => `/dashboard/api/projects/${projectId}/${mode}/keys`;
interface Made {
  readonly key: KeyView;
  readonly text: string;
}
const FULL = { name: 'Server', kind: 'secret', permission: 'full' } as const;

async function make(projectId: string, more: object = {}, browser = session): Promise<Made> {
  const answer = await browser.call<Made>({ method: 'POST', path: keysOf(projectId), body: { ...FULL, ...more } });
  if (answer.status !== 200) throw new Error(answer.text);
  clock.advance(1);
  return answer.body;
}

async function list(projectId: string, mode: Mode = 'test'): Promise<readonly KeyView[]> {
  return (await session.call<{ data: readonly KeyView[] }>({ path: keysOf(projectId, mode) })).body.data;
}

const act = (id: string, what: string, projectId: string, body: object = {}, browser: Browser = session) =>
  browser.call<Made & { error: { type: string; message: string } }>({
    method: 'POST',
    path: `${keysOf(projectId)}/${id}/${what}`,
    body,
  });

/** The status with which the API answers a key. */
const tried = async (key: string, address = '127.0.0.1', more = {}): Promise<number> => {
  const headers = { 'x-forwarded-for': address, 'x-forwarded-proto': 'https', ...more };
  return (await test.http.call({ path: '/v1/orders', key, headers }, proxied)).status;
};

it('a key is shown once: no other answer, log line or row has its text', async () => {
  const { projectId } = await test.http.shop();
  const made = await make(projectId);
  expect(made.text).toMatch(/^sk_test_/);
  expect(made.key).toMatchObject({ ...FULL, state: 'active', last_used_at: null, clients: [] });
  expect(made.key.created_by).toEqual({ kind: 'person', name: owner.email, person_name: null });
  const rolled = await act(made.key.id, 'roll', projectId, { overlap_hours: 1 });
  expect(await tried(rolled.body.text)).toBe(200);
  await keyUses.save();
  await act(made.key.id, 'revoke', projectId);
  const { rows } = await sql<{ everything: string }>`
    select concat((select json_agg(k) from api_keys k), (select json_agg(a) from audit_log a), (select json_agg(c) from api_key_clients c)) as everything
  `.execute(app.db);
  const answers = JSON.stringify([
    await list(projectId),
    await session.do('GET /dashboard/api/audit'),
    await act(made.key.id, 'revoke', projectId),
    test.http.logged,
    rows,
  ]);
  for (const text of [made.text, rolled.body.text]) {
    expect(answers).not.toContain(text);
    expect(answers).not.toContain(text.slice('sk_test_'.length, -8));
  }
});

it('says when and from where a key was used, to the minute, without a write for a request', async () => {
  const { projectId } = await test.http.shop();
  const secret = await make(projectId);
  const open = await make(projectId, { kind: 'public', name: 'Web shop' });
  const headers = { 'user-agent': 'shop/1.0' };
  expect(await tried(secret.text, '203.0.113.7', headers)).toBe(200);
  clock.advance(3 * MINUTE_MS);
  const usedAt = clock();
  expect(await tried(secret.text, '203.0.113.7', headers)).toBe(200);
  await tried(open.text, '198.51.100.9', { origin: 'https://shop.example' });
  await tried(open.text, '198.51.100.10', { origin: 'https://shop.example' });
  await tried(open.text, '198.51.100.11', { origin: '<script>' });
  expect((await list(projectId)).map((key) => key.last_used_at)).toEqual([null, null]);
  await keyUses.save();
  const [second, first] = await list(projectId);
  const minute = new Date(Math.floor(usedAt / MINUTE_MS) * MINUTE_MS).toISOString();
  expect(first).toMatchObject({ last_used_at: minute });
  expect(first?.clients).toEqual([
    expect.objectContaining({ client: '203.0.113.7', requests: 2, user_agent: 'shop/1.0', last_refused_at: null }),
  ]);
  // Customers' addresses are nobody's business: pages are kept.
  expect(Object.fromEntries(second?.clients.map(({ client, requests }) => [client, requests]) ?? [])).toEqual({
    'https://shop.example': 2,
    null: 1,
  });
  // Saved uses are not counted again.
  await keyUses.save();
  expect((await list(projectId))[1]?.clients[0]?.requests).toBe(2);
});

it('tells a key’s last clients apart and counts the others together, in memory and in the database', async () => {
  const { projectId } = await test.http.shop();
  const { key, text } = await make(projectId);
  for (let round = 0; round < 2; round += 1) {
    for (let host = 1; host <= MAX_KEY_CLIENTS + 5; host += 1) await tried(text, `203.0.${round}.${host}`);
    clock.advance(MINUTE_MS);
    await keyUses.save();
  }
  const clients = (await list(projectId)).find(({ id }) => id === key.id)?.clients ?? [];
  expect(clients).toHaveLength(MAX_KEY_CLIENTS);
  expect(clients.find(({ client }) => client === null)?.requests).toBe(10);
});

it('keeps for the next time what it could not save', async () => {
  const { projectId } = await test.http.shop();
  const { text } = await make(projectId);
  await tried(text);
  await sql`alter table api_key_clients rename to away`.execute(app.db);
  await expect(keyUses.save()).rejects.toThrow('api_key_clients');
  await sql`alter table away rename to api_key_clients`.execute(app.db);
  await tried(text);
  await keyUses.save();
  expect((await list(projectId))[0]?.clients[0]?.requests).toBe(2);
});

it('a rolled key works beside the one in its place until its end, and can be rolled no more', async () => {
  const { projectId } = await test.http.shop();
  const old = await make(projectId, { permission: 'read', name: 'Reports' });
  const rolled = await act(old.key.id, 'roll', projectId, { overlap_hours: 24 });
  expect(rolled.body.key).toMatchObject({ name: 'Reports', permission: 'read', kind: 'secret', state: 'active' });
  expect([await tried(old.text), await tried(rolled.body.text)]).toEqual([200, 200]);
  expect((await list(projectId))[1]).toMatchObject({
    state: 'ending',
    replaced_by: rolled.body.key.id,
    ended_by: { name: owner.email },
  });
  const again = await act(old.key.id, 'roll', projectId, { overlap_hours: 0 });
  expect([again.status, again.body.error.message]).toEqual([409, expect.stringContaining('was already rolled')]);
  clock.advance(24 * HOUR_MS - 2);
  expect(await tried(old.text)).toBe(200);
  clock.advance(2);
  expect([await tried(old.text), await tried(rolled.body.text)]).toEqual([401, 200]);
  const log = await listAuditEntries(app.db, { ...WHOLE_LOG, projectId }, { after: null, limit: 10 });
  expect(log.find(({ action }) => action === 'key.roll')).toMatchObject({
    subject: { id: old.key.id },
    after: { replaced_by: rolled.body.key.id },
  });
});

it('of two people who revoke a key the second is told, and a key without overlap ends at once', async () => {
  const { projectId } = await test.http.shop();
  const one = await make(projectId);
  const answers = await Promise.all([act(one.key.id, 'revoke', projectId), act(one.key.id, 'revoke', projectId)]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  // Who it was may be the same person, in another tab.
  expect(answers.find(({ status }) => status === 409)?.body.error.message).toBe(
    'This key is already revoked and no longer works.',
  );
  expect((await act(one.key.id, 'roll', projectId, { overlap_hours: 1 })).status).toBe(409);
  const two = await make(projectId);
  const rolled = await act(two.key.id, 'roll', projectId, { overlap_hours: 0 });
  await expect.poll(() => tried(two.text)).toBe(401);
  expect(await tried(rolled.body.text)).toBe(200);
});

it('keys of another project or mode are not found', async () => {
  const [own, other] = [await test.http.shop(), await test.http.shop()];
  const { key } = await make(own.projectId);
  const member = await test.join('developer', other.projectId);
  for (const [browser, projectId] of [
    [session, other.projectId],
    [member.browser, other.projectId],
  ] as const) {
    for (const what of ['roll', 'revoke']) {
      const answer = await act(key.id, what, projectId, what === 'roll' ? { overlap_hours: 1 } : {}, browser);
      expect([answer.status, answer.body.error.message]).toEqual([404, expect.stringContaining('no such key')]);
    }
  }
  const path = `${keysOf(own.projectId, 'live')}/${key.id}/revoke`;
  expect((await session.call({ method: 'POST', path, body: {} })).status).toBe(404);
  expect((await session.call({ method: 'POST', path: `${keysOf(own.projectId)}/x/revoke`, body: {} })).status).toBe(
    404,
  );
});

it('a developer makes and rolls live keys of no more than a developer may, and test keys of everything', async () => {
  const { projectId } = await test.http.shop();
  const { browser } = await test.join('developer', projectId);
  const { permission: _, ...rest } = FULL;
  const status = async (grant: object, mode: Mode = 'live') => {
    const answer = await browser.call<{ error?: { type: string; message: string } }>({
      method: 'POST',
      path: keysOf(projectId, mode),
      body: { ...rest, ...grant },
    });
    return [answer.status, answer.body.error?.type, answer.body.error?.message];
  };
  for (const grant of [
    { permission: 'full' },
    { permission: 'write' },
    { scopes: ['payments:read', 'payments:change'] },
  ]) {
    expect(await status(grant)).toEqual([
      403,
      'permission_error',
      'With the role developer, you may not create this live key, because anyone who has the key could create, cancel or accept live payments. Give the key fewer permissions, or ask somebody with the role owner or admin.',
    ]);
  }
  expect((await status({ scopes: ['refunds'] }))[2]).toContain('could create refunds');
  expect(await list(projectId, 'live')).toEqual([]);
  expect(await status({ permission: 'read' })).toEqual([200, undefined, undefined]);
  expect((await status({ scopes: ['payments:read', 'webhooks', 'events'] }))[0]).toBe(200);
  expect((await status({ permission: 'full' }, 'test'))[0]).toBe(200);

  const path = keysOf(projectId, 'live');
  const owned = (await session.call<Made>({ method: 'POST', path, body: FULL })).body.key;
  const roll = { method: 'POST', path: `${path}/${owned.id}/roll`, body: { overlap_hours: 0 } };
  expect((await browser.call(roll)).status).toBe(403);
  // Taking a key away gives nobody anything.
  expect((await browser.call({ method: 'POST', path: `${path}/${owned.id}/revoke`, body: {} })).status).toBe(200);
});

it('a key is made with a permission or with scopes, keeps its scopes when it is rolled, and public keys have few', async () => {
  const { projectId } = await test.http.shop();
  const scopes = ['payments:create', 'refunds'];
  const made = await make(projectId, { permission: undefined, scopes });
  expect(made.key).toMatchObject({ permission: null, scopes });
  const rolled = await act(made.key.id, 'roll', projectId, { overlap_hours: 1 });
  expect(rolled.body.key).toMatchObject({ permission: null, scopes });
  expect(await tried(rolled.body.text)).toBe(403);
  const log = await listAuditEntries(app.db, { ...WHOLE_LOG, projectId }, { after: null, limit: 10 });
  expect(log.findLast(({ action }) => action === 'key.create')?.after).toMatchObject({ scopes });
  const refused = async (body: object) => {
    const { kind, name } = FULL;
    const answer = await session.call<{ error: { param: string; message: string } }>({
      method: 'POST',
      path: keysOf(projectId),
      body: { kind, name, ...body },
    });
    return [answer.status, answer.body.error.param];
  };
  expect(await refused({})).toEqual([400, 'scopes']);
  expect(await refused({ scopes: [] })).toEqual([400, 'scopes']);
  expect(await refused({ permission: 'full', scopes })).toEqual([400, 'scopes']);
  expect(await refused({ kind: 'public', scopes })).toEqual([400, 'scopes']);
});

it('live keys ask for reauthentication, test keys do not', async () => {
  const { projectId } = await test.http.shop();
  clock.advance(10 * MINUTE_MS);
  const live = { method: 'POST', path: keysOf(projectId, 'live'), body: FULL };
  const refused = await session.call<{ error: { type: string } }>(live);
  expect([refused.status, refused.body.error.type]).toEqual([403, 'reauthentication_required']);
  expect(await list(projectId, 'live')).toEqual([]);
  expect((await session.call({ ...live, path: keysOf(projectId) })).status).toBe(200);
  await session.do('POST /dashboard/api/reauthenticate', { password: PASSWORD });
  expect((await session.call(live)).status).toBe(200);
});

it('a role that changed while the page is open is refused with a sentence', async () => {
  const { projectId } = await test.http.shop();
  const member = await test.join('developer', projectId);
  const { key } = await make(projectId, {}, member.browser);
  await session.do('POST /dashboard/api/people/role', { id: member.id, role: 'viewer', project: projectId });
  const answer = await act(key.id, 'revoke', projectId, {}, member.browser);
  expect([answer.status, answer.body.error.message]).toEqual([
    403,
    'With the role viewer, you may not create or revoke test keys. You need the role owner, admin or developer. An owner can change your role.',
  ]);
});

interface Saved {
  readonly saved: boolean;
  readonly refused: AccessView['addresses'];
  readonly access: AccessView;
  readonly error: { readonly message: string };
}

it('an allow-list that would refuse addresses that used keys a moment ago is saved only when they were accepted', async () => {
  const { projectId } = await test.http.shop();
  const { text } = await make(projectId);
  await tried(text, '203.0.113.7');
  const path = `/dashboard/api/projects/${projectId}/access`;
  const read = await session.call<AccessView>({ path });
  expect(read.body).toMatchObject({ allow_ips: [], your_address: '127.0.0.1' });
  expect(read.body.addresses).toEqual([
    expect.objectContaining({ address: '203.0.113.7', keys: ['Server'], is_allowed: true }),
  ]);
  const save = (values: readonly string[], before: readonly string[], anyway = false) =>
    session.call<Saved>({ method: 'POST', path: `${path}/ips`, body: { values, before, anyway } });
  const asked = await save(['198.51.100.0/24'], []);
  expect(asked.body).toMatchObject({ saved: false, access: { allow_ips: [] } });
  expect(asked.body.refused.map(({ address }) => address)).toEqual(['203.0.113.7']);
  const both = ['198.51.100.0/24', '203.0.113.0/24'];
  expect((await save(both, [])).body).toMatchObject({ saved: true, access: { allow_ips: both } });
  const late = await save(['198.51.100.1'], [], true);
  expect([late.status, late.body.error.message]).toEqual([409, expect.stringContaining('Somebody else changed')]);
  const accepted = await save(['198.51.100.0/24'], both, true);
  expect(accepted.body).toMatchObject({ saved: true, access: { addresses: [{ is_allowed: false }] } });
  await expect.poll(() => tried(text, '203.0.113.7')).toBe(403);
  await keyUses.save();
  expect((await list(projectId))[0]?.clients[0]?.last_refused_at).not.toBeNull();
  expect((await save(['nonsense'], ['198.51.100.0/24'])).body.error.message).toContain('"nonsense" is not a CIDR');
});

it('origins are saved in their own form, and of two people the second is told', async () => {
  const { projectId } = await test.http.shop();
  const path = `/dashboard/api/projects/${projectId}/access/origins`;
  const save = (values: readonly string[], before: readonly string[]) =>
    session.call<Saved>({ method: 'POST', path, body: { values, before } });
  expect((await save(['https://Shop.example/'], [])).body.access.allow_origins).toEqual(['https://shop.example']);
  expect((await save(['https://other.example'], [])).status).toBe(409);
  expect((await save(['shop'], ['https://shop.example'])).body.error.message).toContain('is not the origin');
});

it('bad input is refused by its field, and nothing is made or changed', async () => {
  const { projectId } = await test.http.shop();
  const post = async (path: string, body: object): Promise<readonly [number, string | undefined]> => {
    const answer = await session.call<{ error: { param?: string } }>({ method: 'POST', path, body });
    return [answer.status, answer.body.error.param];
  };
  const keys = keysOf(projectId);
  const access = `/dashboard/api/projects/${projectId}/access`;
  for (const name of ['', '   ', 'a'.repeat(101), 'a\u0000b']) {
    expect(await post(keys, { ...FULL, name })).toEqual([400, 'name']);
  }
  expect((await post(keys, { ...FULL, name: 'a'.repeat(10_000_000) }))[0]).toBe(400);
  expect(await post(keys, { ...FULL, permission: 'all' })).toEqual([400, 'permission']);
  expect(await post(keys, { ...FULL, mode: 'live' })).toEqual([400, 'mode']);
  const { key } = await make(projectId);
  for (const hours of [-1, 169, 1.5, '24']) {
    expect(await post(`${keys}/${key.id}/roll`, { overlap_hours: hours })).toEqual([400, 'overlap_hours']);
  }
  const before: readonly string[] = [];
  const many = Array.from({ length: 201 }, (_, index) => `10.0.0.${index}`);
  expect((await post(`${access}/ips`, { values: many, before, anyway: true }))[0]).toBe(400);
  for (const value of ['10.0.0.0/33', '::ffff:0:0/64', '10.0.0', '<script>']) {
    expect(await post(`${access}/ips`, { values: [value], before, anyway: true })).toEqual([400, 'values']);
  }
  for (const value of ['*', 'https://shop.example/path', 'javascript:alert(1)', 'https://a.example;script-src *']) {
    expect(await post(`${access}/origins`, { values: [value], before })).toEqual([400, 'values']);
  }
  expect((await list(projectId)).map(({ state }) => state)).toEqual(['active']);
  const { body } = await session.call<AccessView>({ path: access });
  expect(body).toMatchObject({ allow_ips: [], allow_origins: [] });
});
