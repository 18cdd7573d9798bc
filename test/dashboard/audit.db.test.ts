import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { forActor } from '../../src/app/context.ts';
import { cancelPayment, completeSandboxPayment } from '../../src/app/payments/payment-actions.ts';
import { createKey, removeKey } from '../../src/app/projects/keys.ts';
import { setRole } from '../../src/app/people/people.ts';
import { changeProject, createProject } from '../../src/app/projects/projects.ts';
import { setProjectWallet } from '../../src/app/projects/wallets.ts';
import {
  createEndpoint,
  deleteEndpoint,
  reopenEndpoint,
  rotateEndpointSecret,
} from '../../src/app/webhooks/webhook-endpoints.ts';
import type { Role } from '../../src/domain/role.ts';
import { MAIN_CHAINS } from '../../src/rails/utxo/params.ts';
import { listAuditEntries, WHOLE_LOG, type AuditEntry } from '../../src/store/people/audit.ts';
import { dashboardTest, PASSWORD } from '../dashboard.ts';

const test = await dashboardTest();
afterAll(() => test.http.close());

const { app } = test.http;
const operator = forActor(app, { kind: 'command', id: null, name: 'root', ip: null });

const newest = (limit: number): Promise<readonly AuditEntry[]> =>
  listAuditEntries(app.db, WHOLE_LOG, { after: null, limit });

/** The audit log's entries for the changes that `work` makes, oldest first. */
async function kept(work: () => Promise<unknown>): Promise<readonly AuditEntry[]> {
  app.clock.advance(1);
  const [last] = await newest(1);
  await work();
  const entries = await newest(100);
  const end = entries.findIndex(({ id }) => id === last?.id);
  return entries.slice(0, end < 0 ? undefined : end).toReversed();
}

async function done<Outcome extends { readonly kind: string }>(
  outcome: Promise<Outcome>,
): Promise<Exclude<Outcome, { kind: 'rejected' }>> {
  const found = await outcome;
  if (found.kind === 'rejected') throw new Error(JSON.stringify(found));
  app.clock.advance(1);
  return found as Exclude<Outcome, { kind: 'rejected' }>;
}

it('the log has the changes that operators make by commands, with before and after but no secrets', async () => {
  const secrets: string[] = [];
  const keys = [Buffer.alloc(32, 1)] as const;
  const entries = await kept(async () => {
    const { project } = await done(createProject(operator, 'Kept'));
    const projectId = project.id;
    await done(changeProject(operator, projectId, { spreadBasisPoints: 150 }));
    const made = await done(
      createKey(operator, { projectId, mode: 'live', kind: 'secret', permission: 'full', name: 'Server' }),
    );
    await done(removeKey(operator, made.stored.id));
    // The second time, nothing changes.
    await done(removeKey(operator, made.stored.id));
    const policy = () => ({ mode: 'live', production: false, allowCidrs: [] }) as const;
    const url = 'https://shop.example/hook?token=hidden-in-the-url';
    const endpoint = await done(
      createEndpoint(operator, keys, policy, { projectId, mode: 'live', url, events: 'all' }),
    );
    const rotated = await done(rotateEndpointSecret(operator, keys, endpoint.endpoint.id));
    await done(reopenEndpoint(operator, endpoint.endpoint.id));
    await done(deleteEndpoint(operator, endpoint.endpoint.id));
    const wallet = { projectId, network: 'ethereum', confirmations: null, toleranceBasisPoints: null };
    await done(
      setProjectWallet(operator, { ...wallet, source: { kind: 'treasury', text: `0x${'1'.repeat(40)}` } }, MAIN_CHAINS),
    );
    secrets.push(made.key, endpoint.secret, rotated.secret, 'hidden-in-the-url');
  });
  expect(entries.map(({ action }) => action)).toEqual([
    'project.create',
    'project.change',
    'key.create',
    'key.revoke',
    'webhook.create',
    'webhook.rotate',
    'webhook.enable',
    'webhook.delete',
    'wallet.set',
  ]);
  expect(new Set(entries.map(({ actor }) => `${actor.kind} ${actor.name}`))).toEqual(new Set(['command root']));
  expect(entries[1]).toMatchObject({ before: { spread_basis_points: 0 }, after: { spread_basis_points: 150 } });
  expect(entries.at(-1)).toMatchObject({ before: { source: null }, after: { source: expect.stringMatching(/^0x1/) } });
  const text = JSON.stringify(entries);
  for (const secret of secrets) expect(text).not.toContain(secret);
});

it('the log has what people do with payments, with person and address, but not what customers do', async () => {
  const person = forActor(app, { kind: 'person', id: null, name: 'ann@shop.example', ip: '203.0.113.7' }, 'req_1');
  const [one, two] = [await app.pay(), await app.pay()];
  const entries = await kept(async () => {
    await completeSandboxPayment(person, { id: one.id });
    await cancelPayment(app, { id: two.id });
  });
  expect(entries).toEqual([
    expect.objectContaining({
      action: 'payment.complete',
      projectId: app.projectId,
      actor: { kind: 'person', id: null, name: 'ann@shop.example' },
      ip: '203.0.113.7',
      requestId: 'req_1',
      before: { status: 'pending' },
      after: { status: 'completed' },
    }),
  ]);
});

it('a change that is rolled back leaves no entry', async () => {
  const entries = await kept(async () => {
    await expect(
      createEndpoint(operator, [Buffer.alloc(32)], () => ({ mode: 'live', production: false, allowCidrs: [] }), {
        projectId: '00000000-0000-7000-8000-000000000000',
        mode: 'live',
        url: 'https://shop.example/',
        events: 'all',
      }),
    ).resolves.toMatchObject({ kind: 'rejected' });
  });
  expect(entries).toEqual([]);
});

const entry = (action: string, after: object) => sql`
  insert into audit_log (id, at, actor_kind, actor_name, action, subject_kind, after)
  values (gen_random_uuid(), now(), 'service', 'Cointill', ${action}, 'refund', ${JSON.stringify(after)}::jsonb)`;

it.each([
  'update audit_log set actor_name = $$nobody$$',
  'delete from audit_log',
  'truncate audit_log',
  `update audit_log set after = null where action = 'refund.create'`,
  `update audit_log set after = after || '{"reason": "another"}' where action = 'refund.create'`,
  `update audit_log set after = after - 'reason' where action = 'refund.create'`,
  `update audit_log set after = after || '{"address": "(deleted)"}' where action = 'refund.create'`,
  `update audit_log set after = after || '{"note": "(deleted)"}' where action = 'refund.create'`,
  `update audit_log set after = after || '{"name": "(deleted)"}' where action = 'key.create'`,
  `update audit_log set after = after || '{"reason": "(deleted)"}', at = 'epoch' where action = 'refund.create'`,
])('the log is append-only: %s is refused', async (statement) => {
  const tried = app.db.transaction().execute(async (trx) => {
    await entry('refund.create', { reason: 'too late', address: 'bc1q' }).execute(trx);
    await entry('key.create', { name: 'Server' }).execute(trx);
    await sql.raw(statement).execute(trx);
  });
  await expect(tried).rejects.toThrow('append-only');
});

it('the API lists entries newest first, page by page, and only those of a project to people who may see no others', async () => {
  const { browser, id } = await test.join('owner');
  app.clock.advance(1);
  await browser.do('POST /dashboard/api/projects', { name: 'Paged' });
  const seen: string[] = [];
  let after: string | null = null;
  for (let page = 0; page < 500; page += 1) {
    const path: string = `/dashboard/api/audit?limit=3${after === null ? '' : `&after=${after}`}`;
    const { body } = await browser.call<{
      data: { id: string; action: string; actor: { id: string } }[];
      next: string | null;
    }>({
      path,
    });
    seen.push(...body.data.map((entry) => entry.id));
    if (body.next === null) break;
    after = body.next;
  }
  const [first] = await newest(1);
  expect(first).toMatchObject({ action: 'project.create', actor: { kind: 'person', id } });
  expect(seen).toEqual((await newest(1_000)).map((entry) => entry.id));
  const own = await test.join('admin', app.projectId);
  const inProject = `/dashboard/api/projects/${app.projectId}/audit`;
  const answer = await own.browser.call<{ data: { project: string }[] }>({ path: inProject });
  expect(new Set(answer.body.data.map(({ project }) => project))).toEqual(new Set([app.projectId]));
  expect((await own.browser.try('GET /dashboard/api/audit')).status).toBe(403);
  const text = JSON.stringify(await newest(1_000));
  expect(text).not.toContain(PASSWORD);
  expect(text).not.toContain('argon2');
});

it('the log of all projects omits projects where a person has a role of their own that may not see the log', async () => {
  const hidden = await done(createProject(operator, 'Hidden'));
  const shown = await done(createProject(operator, 'Shown'));
  const { id, browser } = await test.join('admin');
  const give = (role: Role, projectId: string) => done(setRole(operator, { id }, { role, projectId }));
  await give('viewer', hidden.project.id);
  await give('owner', shown.project.id);
  type Page = {
    readonly data: readonly { readonly id: string; readonly project: string | null }[];
    readonly next: string | null;
  };
  const seen: Page['data'][number][] = [];
  for (let after: string | null = ''; after !== null;) {
    const path: string = `/dashboard/api/audit?limit=2${after === '' ? '' : `&after=${after}`}`;
    const { body } = await browser.call<Page>({ path });
    seen.push(...body.data);
    after = body.next;
  }
  const expected = (await newest(1_000)).filter(({ projectId }) => projectId !== hidden.project.id);
  expect(seen.map((entry) => entry.id)).toEqual(expected.map((entry) => entry.id));
  expect(seen.some(({ project }) => project === shown.project.id)).toBe(true);
  expect((await browser.call({ path: `/dashboard/api/projects/${hidden.project.id}/audit` })).status).toBe(403);
  // With a role there that may see the log, it is included again.
  await give('admin', hidden.project.id);
  const { body } = await browser.call<Page>({ path: '/dashboard/api/audit?limit=1' });
  expect(body.data).toEqual([expect.objectContaining({ project: hidden.project.id })]);
});

it('the log is narrowed by who, what and when, in lists and files, and a file is no formula', async () => {
  const { browser, id } = await test.join('owner');
  const { project } = await done(createProject(operator, 'Narrowed'));
  const base = `/dashboard/api/projects/${project.id}`;
  app.clock.advance(60_000);
  const from = new Date(app.clock()).toISOString();
  const name = '=HYPERLINK("https://evil.example")';
  await done(
    changeProject(forActor(app, { kind: 'command', id: null, name, ip: null }), project.id, { accent: 'ff0000' }),
  );
  const body = { name: 'Server', kind: 'secret', permission: 'read' };
  await browser.call({ method: 'POST', path: `${base}/test/keys`, body });
  const actions = async (query: string): Promise<readonly string[]> => {
    const answer = await browser.call<{ data: { action: string }[] }>({ path: `${base}/audit?${query}` });
    return answer.body.data.map(({ action }) => action);
  };
  expect(await actions('')).toEqual(['key.create', 'project.change', 'project.create']);
  expect(await actions(`who=${id}`)).toEqual(['key.create']);
  expect(await actions('who=command')).toEqual(['project.change', 'project.create']);
  expect(await actions('what=project')).toEqual(['project.change', 'project.create']);
  expect(await actions(`from=${from}`)).toEqual(['key.create', 'project.change']);
  expect(await actions(`before=${from}`)).toEqual(['project.create']);
  expect((await browser.call({ path: `${base}/audit?who=nobody` })).status).toBe(400);
  const file = (format: string) =>
    browser.call({ method: 'POST', path: `${base}/audit/export`, body: { format, what: 'project' } });
  const { text } = await file('csv');
  const lines = text.trim().split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[0]).toBe('time (UTC),who,name,action,project,of,id,before,after,address,request');
  expect(lines[1]).toContain(`,command,"'=HYPERLINK(""https://evil.example"")",project.change,${project.id},`);
  const json = (await file('jsonl')).text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  expect(json).toMatchObject([
    { action: 'project.change', actor: { name }, after: { accent: 'ff0000' } },
    { action: 'project.create' },
  ]);
  // Who takes the log is in the log.
  expect((await actions('what=audit')).length).toBe(2);
});
