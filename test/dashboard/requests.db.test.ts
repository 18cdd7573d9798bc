import { sql } from 'kysely';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { createRequestLog, type RequestLog } from '../../src/app/dashboard/request-log.ts';
import { createProject } from '../../src/app/projects/projects.ts';
import { loggedPath } from '../../src/http/path.ts';
import type { AnsweredRequest } from '../../src/http/server.ts';
import { purgeApiRequests } from '../../src/store/projects/api-requests.ts';
import type { RequestView } from '../../src/http/dashboard/requests/contract.ts';
import { orderRoutes } from '../../src/http/orders/routes.ts';
import { createPaymentReader } from '../../src/app/payments/read-payment.ts';
import { dashboardTest } from '../dashboard.ts';

const NO_DEFAULTS = { defaultExpiryMinutes: null, defaultSuccessUrl: null };
const test = await dashboardTest();
const { app } = test.http;
afterAll(() => test.http.close());
const { browser: developer } = await test.join('developer', app.projectId);
const shop = await test.http.shop();

/** Both addresses of the API, whose calls are logged; the log is flushed by the test alone. */
function logged(onFault: (error: unknown) => void = (error) => expect.unreachable(String(error))) {
  const log: RequestLog = createRequestLog(app, { onFault, flushMs: 3_600_000 });
  onTestFinished(() => log.stop());
  const onAnswered = (answer: AnsweredRequest): void => {
    const { id: requestId, method, status, durationMs, call } = answer;
    if (call !== null) log.add({ ...call, requestId, method, path: loggedPath(answer), status, durationMs });
  };
  const webhooks = () => Promise.resolve(test.http.webhooks);
  const api = { app, creator: app.creator, reader: createPaymentReader(app), webhooks };
  const server = (side: 'test' | 'live') => test.http.build({ side, onAnswered, plugins: [orderRoutes(api)] });
  return { log, sandbox: server('test'), live: server('live') };
}

type Page = { readonly data: readonly RequestView[]; readonly next: string | null; readonly keys: readonly object[] };
const list = async (query = '', projectId = shop.projectId, mode = 'test'): Promise<Page> => {
  const { browser } = projectId === app.projectId ? { browser: developer } : { browser: await owner };
  const path = `/dashboard/api/projects/${projectId}/${mode}/requests?${query}`;
  const answer = await browser.call<Page>({ path });
  if (answer.status !== 200) throw new Error(`${path} → ${answer.status} ${answer.text}`);
  return answer.body;
};
const owner = test.join('owner').then(({ browser }) => browser);

/** A log, and a key of a project of its own. */
async function loggedProject(name: string) {
  const { log } = logged();
  const made = await createProject(app, name);
  if (made.kind !== 'done') throw new Error(made.code);
  const project = { id: made.project.id, name: '', active: true, allowIps: [], allowOrigins: [], ...NO_DEFAULTS };
  return { log, project, key: { id: app.projectId, mode: 'test', kind: 'secret', project } as const };
}

const ORDER = { amount: 10, currency: 'USD', crypto_currency: 'BTC', customer_email: 'ann.private@example.com' };

it('every refused call and every write is there with why, and nothing of their bodies and queries', async () => {
  const { log, sandbox, live } = logged();
  const key = await shop.key();
  const auth = { authorization: `Bearer ${key}`, 'user-agent': 'shop/1.0' };
  const call = (server: typeof sandbox, method: string, path: string, body?: object) =>
    test.http.call({ method, path, headers: auth, ...(body === undefined ? {} : { body }) }, server);
  const made = await call(sandbox, 'POST', '/v1/orders', ORDER);
  expect(made.status).toBe(200);
  await call(sandbox, 'POST', '/v1/orders', { ...ORDER, amount: -1 });
  await call(sandbox, 'GET', '/v1/orders/ord_none?customer=ann.private@example.com');
  await call(sandbox, 'GET', '/v1/orders/ann.private%40example.com');
  await call(sandbox, 'GET', '/v1/customers/ann.private%2540example.com');
  // A test key at the live address: the most usual mistake.
  await call(live, 'POST', '/v1/orders', ORDER);
  await test.http.call(
    { method: 'GET', path: '/v1/orders', headers: { authorization: 'Bearer sk_test_wrong' } },
    sandbox,
  );
  await log.stop();
  const { data } = await list();
  expect(data.map(({ method, path, status, error }) => [method, path, status, error?.type, error?.param])).toEqual(
    expect.arrayContaining([
      ['POST', '/v1/orders', 200, undefined, undefined],
      ['POST', '/v1/orders', 400, 'invalid_request_error', 'amount'],
      ['GET', '/v1/orders/ord_none', 404, 'not_found_error', null],
      ['GET', '/v1/orders/…', 404, 'not_found_error', null],
      ['GET', '/v1/customers/…', 404, 'not_found_error', null],
      ['POST', '/v1/orders', 401, 'authentication_error', null],
    ]),
  );
  expect(data).toHaveLength(6);
  expect(data[0]).toMatchObject({
    client: '127.0.0.1',
    user_agent: 'shop/1.0',
    key: { id: expect.stringMatching(/^key_/) },
  });
  const { rows } = await sql`select * from api_requests`.execute(app.db);
  expect(JSON.stringify(rows)).not.toMatch(/ann\.private|sk_test_/);
  expect((await list('outcome=refused')).data).toHaveLength(5);
  expect((await list('outcome=accepted')).data).toHaveLength(1);
  expect((await list('status=404&method=GET&path=/v1/orders/ord_')).data).toHaveLength(1);
  const [first] = data;
  expect((await list(`request_id=${first?.request_id ?? ''}`)).data).toHaveLength(1);
  expect((await list(`key=${first?.key.id ?? ''}`)).data).toHaveLength(6);
  const page = await list('limit=5');
  expect((await list(`limit=5&after=${page.next ?? ''}`)).data).toHaveLength(1);
  expect((await list('created_before=2020-01-01')).data).toEqual([]);
});

it('is refused to those who name a call in another project or mode', async () => {
  const { data } = await list();
  const id = data[0]?.id ?? '';
  const other = await createProject(app, 'Other');
  if (other.kind !== 'done') throw new Error(other.code);
  const browser = await owner;
  const ask = (projectId: string, mode: string) =>
    browser.call({ path: `/dashboard/api/projects/${projectId}/${mode}/requests/${id}` });
  expect((await ask(shop.projectId, 'test')).status).toBe(200);
  expect((await ask(shop.projectId, 'live')).status).toBe(404);
  expect((await ask(other.project.id, 'test')).status).toBe(404);
});

it('of reads that were not refused a few a second are kept, and of public keys neither address nor browser', async () => {
  const { log } = logged();
  const project = { id: app.projectId, name: '', active: true, allowIps: [], allowOrigins: [], ...NO_DEFAULTS };
  const key = { id: app.projectId, mode: 'test', kind: 'public', project } as const;
  const read = { requestId: 'r', path: '/v1/x\0', durationMs: 1.4, key, client: '203.0.113.9', userAgent: 'Firefox' };
  for (let count = 0; count < 100; count += 1) log.add({ ...read, method: 'GET', status: 200, refusal: null });
  app.clock.advance(1_000);
  log.add({ ...read, method: 'GET', status: 200, refusal: null });
  await log.stop();
  const { data } = await list('', app.projectId);
  expect(data).toHaveLength(6);
  expect(data[0]).toMatchObject({ client: null, user_agent: null, path: '/v1/x\uFFFD' });
});

it('are listed each once and in the order of time, page by page, however many are alike', async () => {
  const { log, project, key } = await loggedProject('Paged');
  for (let count = 0; count < 120; count += 1) {
    const path = `/${(count * count) % 7}`;
    const status = count % 5 === 0 ? 400 : 200;
    const alike = { method: 'POST', path, status, durationMs: count, key, client: '', userAgent: null, refusal: null };
    log.add({ ...alike, requestId: `r-${count}` });
    app.clock.advance(1 + ((count * 37) % 90));
  }
  await log.stop();
  const all = (await list('limit=100', project.id)).data.map(({ request_id: id }) => id);
  expect(all).toEqual(Array.from({ length: 100 }, (_, index) => `r-${119 - index}`));
  const paged: string[] = [];
  for (let next: string | null = ''; next !== null;) {
    const page: Page = await list(`limit=7${next === '' ? '' : `&after=${next}`}`, project.id);
    paged.push(...page.data.map(({ request_id: id }) => id));
    next = page.next;
  }
  expect(paged).toEqual(Array.from({ length: 120 }, (_, index) => `r-${119 - index}`));
  expect((await list('request_id=r-77', project.id)).data).toMatchObject([{ duration_ms: 77 }]);
  const refused = (await list('outcome=refused&limit=100', project.id)).data;
  expect(refused.map(({ duration_ms: ms }) => ms)).toEqual(Array.from({ length: 24 }, (_, index) => 115 - 5 * index));
});

it('that cannot be saved loses its calls and nothing else', async () => {
  const faults: unknown[] = [];
  const { log, sandbox } = logged((error) => faults.push(error));
  await sql`alter table api_requests rename to api_requests_away`.execute(app.db);
  const key = await shop.key();
  const headers = { authorization: `Bearer ${key}` };
  const made = await test.http.call({ method: 'POST', path: '/v1/orders', headers, body: ORDER }, sandbox);
  await log.stop();
  await sql`alter table api_requests_away rename to api_requests`.execute(app.db);
  expect([made.status, faults.length]).toEqual([200, 1]);
});

it('keeps at most so many calls of a project for so long, and deletes the oldest first', async () => {
  const { log, project, key } = await loggedProject('Busy');
  for (let minute = 0; minute < 5; minute += 1) {
    for (let count = 0; count < 10; count += 1) {
      const path = `/${minute}`;
      log.add({
        requestId: 'r',
        method: 'POST',
        path,
        status: 200,
        durationMs: 1,
        key,
        client: '',
        userAgent: null,
        refusal: null,
      });
    }
    app.clock.advance(60_000);
  }
  await log.stop();
  const paths = async () => [...new Set((await list('limit=100', project.id)).data.map(({ path }) => path))].toSorted();
  while (await purgeApiRequests(app.db, { max: 25, oldest: 0, limit: 7 }));
  expect(await paths()).toEqual(['/3', '/4']);
  while (await purgeApiRequests(app.db, { max: 25, oldest: app.clock(), limit: 7 }));
  expect(await paths()).toEqual([]);
  const { rows } = await sql`select * from api_request_counts where project_id = ${project.id}::uuid`.execute(app.db);
  expect(rows).toEqual([]);
});
