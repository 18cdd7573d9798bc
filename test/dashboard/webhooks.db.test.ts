import { sql } from 'kysely';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createDeliverer, type Deliverer } from '../../src/app/webhooks/deliver-due.ts';
import { deliverAll, insertBacklog, shop } from '../../src/app/webhooks/webhooks.fixture.ts';
import { createProject } from '../../src/app/projects/projects.ts';
import { setRole } from '../../src/app/people/people.ts';
import { EVENT_TYPES } from '../../src/domain/event-type.ts';
import { decodeId, encodeId } from '../../src/domain/id.ts';
import type { Mode } from '../../src/domain/permission.ts';
import type { DeliveryRowView, DeliveryView, RetryView } from '../../src/http/dashboard/deliveries/contract.ts';
import type { EndpointView } from '../../src/http/dashboard/webhooks/contract.ts';
import { findEndpoint } from '../../src/store/webhooks/webhook-endpoints.ts';
import { verifyServiceSignature } from '../../src/webhooks/signature.ts';
import { dashboardTest, type Browser } from '../dashboard.ts';
import { WAIT } from '../deadline.ts';
import type { Answer } from '../http.ts';
import { noteProblems } from '../problems.ts';

const test = await dashboardTest();
const { app } = test.http;
const sender = test.dashboard.webhooks.sender();
const deliverer: Deliverer = createDeliverer(
  app,
  { sender, sealingKeys: await test.people.sealingKeys() },
  { onFree: () => {}, problems: noteProblems(() => {}) },
);
afterAll(async () => {
  await deliverer.stop();
  await test.http.close();
});
const { browser: developer } = await test.join('developer', app.projectId);

/** The API of one project and mode, for one person. */
function hooks(browser: Browser = developer, projectId = app.projectId, mode: Mode = 'test') {
  const base = `/dashboard/api/projects/${projectId}/${mode}`;
  const ask = <Body>(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer<Body>> =>
    browser.call<Body>({
      method,
      path: `${base}/${path}`,
      ...(body === undefined && method === 'GET' ? {} : { body: body ?? {} }),
    });
  const must = async <Body>(method: 'GET' | 'POST', path: string, body?: object): Promise<Body> => {
    const answer = await ask<Body>(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path} → ${answer.status} ${answer.text}`);
    return answer.body;
  };
  return {
    ask,
    must,
    create: (url: string, events: readonly string[] = EVENT_TYPES) =>
      must<{ endpoint: EndpointView; secret: string }>('POST', 'webhooks', { url, events }),
    deliveries: async (query = '') =>
      must<{ data: readonly DeliveryRowView[]; next: string | null }>('GET', `deliveries?${query}`),
  };
}

const uuidOf = (id: string): string => decodeId('endpoint', id) ?? '';

/** An endpoint's row, whose secret is sealed. */
async function endpointRow(id: string) {
  const endpoint = await findEndpoint(app.db, uuidOf(id));
  if (endpoint === null) throw new Error(`no endpoint ${id}`);
  return endpoint;
}

/** Sends a test event to a new endpoint of this receiver, and attempts what is due once. */
async function testSent(receiver: { readonly url: string }): Promise<string> {
  const { create, must } = hooks();
  const { endpoint } = await create(receiver.url);
  const sent = await must<{ delivery: string }>('POST', `webhooks/${endpoint.id}/test`, { type: 'order.created' });
  await deliverer.takeDue();
  await deliverer.idle();
  return sent.delivery;
}

/** A new endpoint with so many deliveries that did not arrive. */
async function withUndelivered(count: number, state: 'failed' | 'stopped', attempts: number) {
  const receiver = await shop();
  const { endpoint } = await hooks().create(receiver.url, ['order.created']);
  await insertBacklog(app, await endpointRow(endpoint.id), count);
  await sql`update deliveries set state = ${state}, attempts = ${attempts}, next_attempt_at = null
    where endpoint_id = ${uuidOf(endpoint.id)}::uuid`.execute(app.db);
  return { receiver, endpoint };
}

describe('an endpoint', () => {
  it('shows its secret in the answer that made it and nowhere again, not in the log of changes either', async () => {
    const { create, must, ask } = hooks();
    const receiver = await shop();
    const { endpoint, secret } = await create(receiver.url);
    expect(secret).toMatch(/^whsec_/);
    const rotated = await must<{ secret: string; endpoint: EndpointView }>('POST', `webhooks/${endpoint.id}/rotate`, {
      overlap_hours: 24,
    });
    expect(rotated.secret).not.toBe(secret);
    expect(rotated.endpoint.previous_secret_until).toBe(new Date(app.clock() + 24 * 3_600_000).toISOString());
    const { delivery } = await must<{ delivery: string }>('POST', `webhooks/${endpoint.id}/test`, {
      type: 'order.completed',
    });
    await deliverAll(app, deliverer);
    const texts = [
      (await ask('GET', 'webhooks')).text,
      (await ask('GET', 'deliveries')).text,
      (await ask('GET', `deliveries/${delivery}`)).text,
      JSON.stringify((await sql`select * from audit_log`.execute(app.db)).rows),
      test.http.logged.join(),
    ];
    for (const text of texts) expect([text.includes(secret), text.includes(rotated.secret)]).toEqual([false, false]);
    const body = receiver.requests[0]?.body ?? '';
    const signature = String(receiver.requests[0]?.headers['x-service-signature']);
    expect(verifyServiceSignature(rotated.secret, body, signature)).toBe(true);
    await sql`update webhook_endpoints set previous_secret_until = '2000-01-01'`.execute(app.db);
    const { data } = await must<{ data: readonly EndpointView[] }>('GET', 'webhooks');
    expect(data.find(({ id }) => id === endpoint.id)?.previous_secret_until).toBeNull();
  });

  it('that two people have open keeps what the first one saved, and says to the second what it is now', async () => {
    const { create, must, ask } = hooks();
    const { endpoint } = await create('https://hooks.example/shared', ['order.created']);
    const shown = { url: endpoint.url, events: endpoint.events };
    const path = `webhooks/${endpoint.id}`;
    const first = { url: 'https://hooks.example/first', events: ['order.created', 'order.completed'] };
    await must('POST', path, { ...first, shown });
    const second = await ask('POST', path, { ...first, url: 'https://hooks.example/second', shown });
    expect(second).toMatchObject({ status: 409, text: expect.stringContaining('https://hooks.example/first') });
    expect(second.text).toMatch(/Somebody else .*nothing was saved.*order\.completed/);
    expect(await endpointRow(endpoint.id)).toMatchObject(first);
    await must('POST', path, { ...shown, shown: first });
    expect(await endpointRow(endpoint.id)).toMatchObject(shown);
  });

  it('is in the log of changes without the query of its URL, which may hold a token, and with what says that there is one', async () => {
    const { create, must } = hooks();
    const { endpoint } = await create('https://hooks.example/query?token=one', ['order.created']);
    await must('POST', `webhooks/${endpoint.id}`, {
      url: 'https://hooks.example/query?token=two',
      events: ['order.created'],
    });
    const { rows } = await sql<{ action: string; before: unknown; after: unknown }>`
      select action, before, after from audit_log where subject_id = ${endpoint.id} order by action desc`.execute(
      app.db,
    );
    expect(rows).toMatchObject([
      { action: 'webhook.create', after: { url: 'https://hooks.example/query?…' } },
      { action: 'webhook.change', before: { url_query: 'as it was' }, after: { url_query: 'changed' } },
    ]);
    expect(JSON.stringify(rows)).not.toContain('token');
  });

  it('whose secret leaked is rotated without an overlap', async () => {
    const { create, must } = hooks();
    const { endpoint } = await create('https://hooks.example/leaked');
    await must('POST', `webhooks/${endpoint.id}/rotate`, { overlap_hours: 0 });
    expect(await endpointRow(endpoint.id)).toMatchObject({ previousSealedSecret: null, previousSecretUntil: null });
  });

  it('of a shop gets messages in place of events, and says so', async () => {
    const { must, ask } = hooks();
    const receiver = await shop();
    const wanted = { url: receiver.url, events: ['InvoiceSettled'], format: 'greenfield' };
    const made = await must<{ endpoint: EndpointView; secret: string }>('POST', 'webhooks', wanted);
    expect(made).toMatchObject({ endpoint: { format: 'greenfield', events: ['InvoiceSettled'] } });
    expect(made.secret).toMatch(/^[0-9a-f]{64}$/);
    const refused = await ask('POST', 'webhooks', { url: receiver.url, events: ['InvoiceSettled'] });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('InvoiceSettled')]);
    const { delivery } = await must<{ delivery: string }>('POST', `webhooks/${made.endpoint.id}/test`, {
      type: 'InvoiceExpired',
    });
    await deliverAll(app, deliverer);
    expect(receiver.requests[0]?.body).toContain('"type":"InvoiceExpired"');
    expect(receiver.requests[0]?.headers['btcpay-sig']).toMatch(/^sha256=[0-9a-f]{64}$/);
    expect(await must('GET', `deliveries/${delivery}`)).toMatchObject({ type: 'InvoiceExpired', state: 'delivered' });
  });

  it('that is paused gets nothing, keeps what is due without counting an attempt, and gets it when it is enabled', async () => {
    const { create, must, ask, deliveries } = hooks();
    const receiver = await shop();
    const { endpoint } = await create(receiver.url, ['order.created']);
    expect(await must('POST', `webhooks/${endpoint.id}/pause`)).toMatchObject({ state: 'paused' });
    await app.pay();
    await deliverer.takeDue();
    await deliverer.idle();
    expect(receiver.requests).toHaveLength(0);
    expect((await deliveries(`endpoint=${endpoint.id}`)).data).toMatchObject([
      { state: 'waiting', attempted_at: null },
    ]);
    expect(await ask('POST', `webhooks/${endpoint.id}/test`, { type: 'order.created' })).toMatchObject({ status: 409 });
    const [waiting] = (await deliveries(`endpoint=${endpoint.id}`)).data;
    // Nothing is sent, so there is no next attempt, and no retry by hand.
    expect(await must<DeliveryView>('GET', `deliveries/${waiting?.id}`)).toMatchObject({ next_attempt_at: null });
    const shown = (await must<{ data: readonly EndpointView[] }>('GET', 'webhooks')).data;
    expect(shown.find(({ id }) => id === endpoint.id)?.health).toMatchObject({ waiting: 1, next_attempt_at: null });
    expect(await ask('POST', `deliveries/${waiting?.id}/retry`)).toMatchObject({
      status: 409,
      text: expect.stringContaining('is paused'),
    });
    expect(receiver.requests).toHaveLength(0);
    expect(await must('POST', `webhooks/${endpoint.id}/enable`)).toMatchObject({ state: 'on', paused_at: null });
    await deliverAll(app, deliverer);
    expect(receiver.requests).toHaveLength(1);
    await must('POST', `webhooks/${endpoint.id}/delete`);
    expect(await ask('POST', `webhooks/${endpoint.id}/pause`)).toMatchObject({ status: 404 });
    expect(await ask('POST', `deliveries/${waiting?.id}/retry`)).toMatchObject({
      status: 409,
      text: expect.stringContaining('endpoint of this delivery was deleted'),
    });
    const { rows } = await sql<{ action: string }>`
      select action from audit_log where subject_id = ${endpoint.id} order by action`.execute(app.db);
    expect(rows.map(({ action }) => action)).toEqual(
      ['create', 'delete', 'enable', 'pause'].map((what) => `webhook.${what}`),
    );
  });

  it('takes another URL and other events, and names the field of a URL that it may not have', async () => {
    const { create, must, ask } = hooks();
    const { endpoint } = await create('https://hooks.example/one', ['order.created']);
    const wanted = { url: 'https://hooks.example/two?token=x', events: ['refund.failed', 'order.completed'] };
    expect(await must('POST', `webhooks/${endpoint.id}`, wanted)).toMatchObject({
      url: wanted.url,
      events: ['order.completed', 'refund.failed'],
    });
    const { rows } = await sql<{ before: object; after: object }>`select before, after from audit_log
      where subject_id = ${endpoint.id} and action = 'webhook.change'`.execute(app.db);
    expect(rows).toEqual([
      {
        before: { url: 'https://hooks.example/one', url_query: 'as it was', events: ['order.created'] },
        after: {
          url: 'https://hooks.example/two?…',
          url_query: 'changed',
          events: ['order.completed', 'refund.failed'],
        },
      },
    ]);
    for (const url of ['ftp://hooks.example', 'x', 'https://user:pass@hooks.example/']) {
      const refused = await ask<{ error: { param: string; message: string } }>('POST', `webhooks/${endpoint.id}`, {
        url,
        events: ['order.created'],
      });
      expect([refused.status, refused.body.error.param]).toEqual([400, 'url']);
      expect(refused.text).not.toContain('--url');
    }
    expect((await ask('POST', 'webhooks', { url: wanted.url, events: [] })).status).toBe(400);
    expect((await ask('POST', 'webhooks', { url: wanted.url, events: ['order.paid'] })).status).toBe(400);
  });

  it('is refused to those who name it in another project or mode, and so is what was sent to it', async () => {
    const { create, must } = hooks();
    const receiver = await shop();
    const { endpoint } = await create(receiver.url);
    const { delivery } = await must<{ delivery: string }>('POST', `webhooks/${endpoint.id}/test`, {
      type: 'order.created',
    });
    await deliverAll(app, deliverer);
    const event = (await must<DeliveryView>('GET', `deliveries/${delivery}`)).event;
    const other = await createProject(app, 'Other shop');
    if (other.kind !== 'done') throw new Error(other.code);
    const { browser: owner } = await test.join('owner');
    for (const elsewhere of [hooks(owner, other.project.id), hooks(owner, app.projectId, 'live')]) {
      for (const what of ['pause', 'enable', 'delete', 'rotate', 'test', '']) {
        const body =
          what === 'rotate'
            ? { overlap_hours: 0 }
            : what === 'test'
              ? { type: 'order.created' }
              : what === ''
                ? { url: receiver.url, events: ['order.created'] }
                : {};
        const answer = await elsewhere.ask('POST', `webhooks/${endpoint.id}${what === '' ? '' : `/${what}`}`, body);
        expect([what, answer.status]).toEqual([what, 404]);
      }
      expect((await elsewhere.ask('GET', `deliveries/${delivery}`)).status).toBe(404);
      expect((await elsewhere.ask('POST', `deliveries/${delivery}/retry`)).status).toBe(404);
      expect((await elsewhere.ask('GET', `event-log/${event}`)).status).toBe(404);
      expect((await elsewhere.deliveries(`endpoint=${endpoint.id}`)).data).toEqual([]);
    }
    expect(receiver.requests).toHaveLength(1);
    expect(await endpointRow(endpoint.id)).toMatchObject({ disabledAt: null, pausedAt: null });
  });

  it('is changed by nobody whose role was taken meanwhile, who reads why', async () => {
    const { create } = hooks();
    const { endpoint } = await create('https://hooks.example/roles');
    const member = await test.join('developer', app.projectId);
    const page = hooks(member.browser);
    await page.must('GET', 'webhooks');
    await setRole(app, { id: member.id }, { role: 'viewer', projectId: app.projectId });
    const refused = await page.ask<{ error: { message: string } }>('POST', `webhooks/${endpoint.id}/pause`);
    expect([refused.status, refused.body.error.message]).toEqual([
      403,
      'With the role viewer, you may not change webhook endpoints or send events again. You need the role owner, admin or developer. An owner can change your role.',
    ]);
  });
});

describe('what was sent', () => {
  it('is filtered by endpoint, type, state, status code, payment and time, page by page', async () => {
    const { create, must, deliveries } = hooks();
    let status = 200;
    const receiver = await shop((response) => void response.writeHead(status).end('said'));
    const broken = await shop((response) => void response.destroy());
    const { endpoint: good } = await create(receiver.url, ['order.created', 'order.completed']);
    const { endpoint: bad } = await create(broken.url, ['order.created']);
    const at = (): string => `endpoint=${good.id}`;
    const first = await app.pay();
    await deliverAll(app, deliverer);
    app.clock.advance(1_000);
    const before = new Date(app.clock()).toISOString();
    status = 500;
    const second = await app.pay();
    await deliverer.takeDue();
    await deliverer.idle();
    const paymentOf = (id: string): string => encodeId('order', id);
    const list = async (query: string) =>
      (await deliveries(query)).data.map(({ payment, status: code }) => [payment, code]);
    expect(await list(at())).toEqual([
      [paymentOf(second.id), 500],
      [paymentOf(first.id), 200],
    ]);
    expect(await list(`${at()}&status=500`)).toEqual([[paymentOf(second.id), 500]]);
    expect(await list(`${at()}&status=404`)).toEqual([]);
    expect(await list(`endpoint=${bad.id}&status=none`)).toHaveLength(2);
    expect(await list(`${at()}&state=delivered`)).toEqual([[paymentOf(first.id), 200]]);
    // After a failed attempt it is shown as failed, with the time of the next.
    expect(await list(`${at()}&state=failed&type=order.created`)).toEqual([[paymentOf(second.id), 500]]);
    expect(await list(`${at()}&state=waiting`)).toEqual([]);
    expect(await list(`${at()}&type=order.completed`)).toEqual([]);
    expect(await list(`${at()}&created_before=${before}`)).toEqual([[paymentOf(first.id), 200]]);
    expect((await deliveries(`${at()}&payment=${paymentOf(first.id)}`)).data).toHaveLength(1);
    const page = await deliveries(`${at()}&limit=1`);
    expect(await list(`${at()}&limit=1&after=${page.next ?? ''}`)).toEqual([[paymentOf(first.id), 200]]);
    const { data } = await must<{ data: readonly EndpointView[] }>('GET', 'webhooks');
    const health = data.find(({ id }) => id === good.id)?.health;
    expect(health).toMatchObject({ acknowledged: 1, waiting: 1, median_ms: expect.any(Number) });
    expect(health?.failing_since).toBe(health?.last_attempt_at);
    expect(data.find(({ id }) => id === bad.id)?.health).toMatchObject({
      acknowledged: 0,
      median_ms: null,
      waiting: 2,
    });
  });

  it.each([
    'endpoint=x',
    'status=99',
    'status=abc',
    'payment=ord_1',
    'after=1',
    'after=dlv_99999999999999999999',
    'type=order.paid',
    'state=lost',
    'created_after=yesterday',
    'unknown=1',
  ])('is not listed by what is no filter: %s', async (query) => {
    expect((await hooks().ask('GET', `deliveries?${query}`)).status).toBeOneOf([400, 404]);
  });

  it('is shown with both sides whole, and with headers that an attacker chose as they came', async () => {
    const { must } = hooks();
    const hostile = '<img src=x onerror=alert(1)>';
    const receiver = await shop((response) => {
      response.writeHead(401, { 'x-note': hostile, 'set-cookie': ['a=1', 'b=2'] }).end(`<script>${hostile}</script>\0`);
    });
    const delivery = await testSent(receiver);
    const shown = await must<DeliveryView>('GET', `deliveries/${delivery}`);
    expect(shown).toMatchObject({
      type: 'order.created',
      state: 'waiting',
      status: 401,
      endpoint_state: 'on',
      attempts: [
        {
          manual: false,
          status: 401,
          response_headers: { 'x-note': hostile, 'set-cookie': 'a=1, b=2' },
          response_body: `<script>${hostile}</script>\uFFFD`,
          error: null,
        },
      ],
    });
    expect(shown.body).toBe(receiver.requests[0]?.body);
    expect(shown.attempts[0]?.request_headers).toMatchObject({
      'webhook-id': shown.event,
      'x-service-signature': receiver.requests[0]?.headers['x-service-signature'],
    });
  });

  it('can be sent once more at once, which changes no schedule until it arrives', async () => {
    const { must } = hooks();
    let status = 503;
    const receiver = await shop((response) => void response.writeHead(status).end());
    const delivery = await testSent(receiver);
    const waiting = await must<DeliveryView>('GET', `deliveries/${delivery}`);
    const again = await must<DeliveryView>('POST', `deliveries/${delivery}/retry`);
    expect(again).toMatchObject({ state: 'waiting', next_attempt_at: waiting.next_attempt_at });
    expect(again.attempts.map(({ manual }) => manual)).toEqual([true, false]);
    status = 204;
    expect(await must('POST', `deliveries/${delivery}/retry`)).toMatchObject({
      state: 'delivered',
      next_attempt_at: null,
    });
  });
});

describe('a test event', () => {
  it('of every type arrives at the one endpoint, signed, and can be looked up', async () => {
    const { create, must } = hooks();
    const receiver = await shop();
    const { endpoint } = await create(receiver.url, ['order.created']);
    for (const type of EVENT_TYPES) await must('POST', `webhooks/${endpoint.id}/test`, { type });
    await deliverAll(app, deliverer);
    const types = receiver.requests.map(({ body }) => (JSON.parse(body) as { type: string }).type);
    expect(types.toSorted()).toEqual(EVENT_TYPES.toSorted());
  });
});

it('who watches a project is notified of what was sent to its endpoints, and nobody else', async () => {
  const { create, must } = hooks();
  const { endpoint } = await create((await shop()).url);
  const heard: string[] = [];
  const elsewhere: string[] = [];
  const { watch } = test.dashboard.live;
  const watches = [
    watch.watch({ projectId: app.projectId, mode: 'test' }, (changes) =>
      heard.push(...changes.map(({ kind }) => kind)),
    ),
    watch.watch({ projectId: app.projectId, mode: 'live' }, (changes) =>
      elsewhere.push(...changes.map(({ kind }) => kind)),
    ),
  ];
  onTestFinished(() => watches.forEach((unwatch) => unwatch()));
  // The first round knows nothing that was sent before it.
  await app.pay();
  await expect.poll(() => heard, WAIT).toContain('payment_created');
  await must('POST', `webhooks/${endpoint.id}/test`, { type: 'order.created' });
  await deliverAll(app, deliverer);
  await expect.poll(() => heard, WAIT).toContain('deliveries');
  expect(elsewhere).not.toContain('deliveries');
});

describe('many deliveries that did not arrive', () => {
  it('are sent again together with their progress, and only those', async () => {
    const { must, deliveries } = hooks();
    const { receiver, endpoint } = await withUndelivered(300, 'failed', 10);
    const started = await must<RetryView>('POST', 'delivery-retries', { endpoint: endpoint.id, state: 'failed' });
    expect(started).toMatchObject({ total: 300, done: 0, delivered: 0 });
    expect(await must('GET', 'delivery-retries')).toMatchObject({ running: { id: started.id } });
    await deliverAll(app, deliverer);
    expect(await must('GET', `delivery-retries/${started.id}`)).toMatchObject({ done: 300, delivered: 300 });
    expect(await must('GET', 'delivery-retries')).toEqual({ running: null });
    expect(receiver.requests).toHaveLength(300);
    expect((await deliveries(`endpoint=${endpoint.id}&state=failed`)).data).toEqual([]);
    const nothing = await hooks().ask('POST', 'delivery-retries', { endpoint: endpoint.id });
    expect([nothing.status, nothing.text.includes('There is nothing to send again here')]).toEqual([400, true]);
  });

  it('that fail again keep the schedule that they had, however often they are sent again', async () => {
    const { must, create, deliveries } = hooks();
    const receiver = await shop((response) => void response.writeHead(404).end());
    const { endpoint } = await create(receiver.url, ['order.created']);
    await app.pay();
    // Twice automatically; the next attempt is in a minute.
    await deliverAll(app, deliverer);
    app.clock.advance(30_000);
    await deliverAll(app, deliverer);
    const scheduled = async () =>
      (
        await sql<{ state: string; attempts: number; next_attempt_at: Date }>`
          select state, attempts, next_attempt_at from deliveries where endpoint_id = ${uuidOf(endpoint.id)}::uuid`.execute(
          app.db,
        )
      ).rows;
    const before = await scheduled();
    expect(before).toMatchObject([{ state: 'waiting', attempts: 2 }]);
    for (let time = 1; time <= 9; time++) {
      app.clock.advance(1);
      const started = await must<RetryView>('POST', 'delivery-retries', { endpoint: endpoint.id });
      const second = await hooks().ask('POST', 'delivery-retries', { endpoint: endpoint.id });
      expect([second.status, second.text.includes('0 of 1 so far')]).toEqual([409, true]);
      await deliverAll(app, deliverer);
      expect(await must('GET', `delivery-retries/${started.id}`)).toMatchObject({ done: 1, delivered: 0 });
      expect(await scheduled()).toEqual(before);
    }
    const [row] = (await deliveries(`endpoint=${endpoint.id}`)).data;
    const { attempts } = await must<DeliveryView>('GET', `deliveries/${row?.id}`);
    // The newest first.
    expect(attempts.map(({ manual }) => manual)).toEqual([...Array.from({ length: 9 }, () => true), false, false]);
  });

  it('become what they were when it is stopped, apart from those under way', async () => {
    const { must, deliveries } = hooks();
    const { receiver, endpoint } = await withUndelivered(100, 'stopped', 2);
    const { id } = await must<RetryView>('POST', 'delivery-retries', { endpoint: endpoint.id });
    // At first, eight deliveries of a new endpoint are taken.
    await deliverer.takeDue();
    await deliverer.idle();
    const stopped = await must<RetryView>('POST', `delivery-retries/${id}/stop`);
    expect(stopped).toMatchObject({ done: 8, delivered: 8, stopped_at: expect.any(String) });
    await deliverAll(app, deliverer);
    expect(receiver.requests).toHaveLength(8);
    expect((await deliveries(`endpoint=${endpoint.id}&state=stopped&limit=100`)).data).toHaveLength(92);
    expect(await must('GET', `delivery-retries/${id}`)).toMatchObject({ total: 100, done: 8 });
    const { rows } = await sql<{ attempts: number }>`select distinct attempts from deliveries
      where endpoint_id = ${uuidOf(endpoint.id)}::uuid and state = 'stopped'`.execute(app.db);
    expect(rows).toEqual([{ attempts: 2 }]);
  });
});
