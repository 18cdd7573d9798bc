import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { completeSandboxPayment } from '../../src/app/payments/payment-actions.ts';
import { pauseEndpoint } from '../../src/app/webhooks/change-endpoint.ts';
import { sendTestEvent } from '../../src/app/webhooks/deliveries.ts';
import { numberDue } from '../../src/app/webhooks/number-events.ts';
import { deleteEndpoint } from '../../src/app/webhooks/webhook-endpoints.ts';
import { webhookApp } from '../../src/app/webhooks/webhooks.fixture.ts';
import { encodeId } from '../../src/domain/id.ts';
import type { EventRowView, EventView, GapRowView } from '../../src/http/dashboard/event-log/contract.ts';
import { dashboardTest } from '../dashboard.ts';

const test = await dashboardTest();
const { app } = test.http;
afterAll(() => test.http.close());
const { browser: developer } = await test.join('developer');

interface List {
  readonly data: readonly (EventRowView | GapRowView)[];
  readonly next: string | null;
  readonly head: number;
}

let forms = 0;

/** The log of a new project in test mode, as its page reads it. */
async function openLog() {
  const { projectId } = await test.http.shop();
  const scope = { projectId, mode: 'test' } as const;
  const path = (rest = '', mode = 'test') => `/dashboard/api/projects/${projectId}/${mode}/event-log${rest}`;
  const list = async (query = ''): Promise<List> => {
    const answer = await developer.call<List>({ path: path(`?${query}`) });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.body;
  };
  return {
    scope,
    path,
    list,
    /** Positions with their types, and gaps with the position at which they begin. */
    rows: async (query = '') =>
      (await list(query)).data.map((row) => [row.position, 'gap' in row ? row.gap.from : row.type]),
    pay: async (): Promise<string> => (await app.pay({ projectId })).id,
    complete: (id: string) => completeSandboxPayment(app, { id }),
    resend: (event: string, endpoint: string | null, request = `form-${(forms += 1)}-x`) =>
      developer.call<{ readonly deliveries: readonly string[]; readonly error?: { readonly message: string } }>({
        method: 'POST',
        path: path(`/${event}/resend`),
        body: { endpoint, request },
      }),
    endpoint: async (events = 'all') => {
      const { register } = await webhookApp({ app });
      return (await register('http://127.0.0.1:9/', { projectId, events })).id;
    },
  };
}

const number = async (): Promise<void> => {
  while (await numberDue(app));
};

/** Positions 1 and 2 are orders, 3 completes the second; 4 to 1003 are a gap, and 1004 completes the first. */
async function logWithGap() {
  const log = await openLog();
  const first = await log.pay();
  // Later ids are greater.
  app.clock.advance(1);
  const second = await log.pay();
  await log.complete(second);
  await number();
  app.clock.advance(3_600_000);
  const restoredAt = new Date(app.clock()).toISOString();
  await sql`insert into event_positions (project_id, mode, position, gap_from, gap_reason)
    values (${log.scope.projectId}, 'test', 1003, 4, 'restored')`.execute(app.db);
  await sql`update event_heads set head = 1003 where project_id = ${log.scope.projectId}`.execute(app.db);
  app.clock.advance(1_000);
  await log.complete(first);
  await number();
  return { ...log, first, second, restoredAt };
}

describe('the log of events', () => {
  it('lists positions and gaps, the newest first, page by page, with the newest position', async () => {
    const { list, rows } = await logWithGap();
    const all = [
      [1004, 'order.completed'],
      [1003, 4],
      [3, 'order.completed'],
      [2, 'order.created'],
      [1, 'order.created'],
    ];
    expect(await rows()).toEqual(all);
    const first = await list('limit=2');
    expect(first).toMatchObject({ next: '3', head: 1004 });
    expect(first.data[1]).toEqual({ id: 'gap_1003', position: 1003, gap: { from: 4, reason: 'restored' } });
    expect([...(await rows('limit=2')), ...(await rows('limit=2&after=3'))]).toEqual(all);
    expect(await list('limit=2&after=3')).toMatchObject({ next: null, head: 1004 });
    expect(await rows('limit=1')).toEqual(all.slice(0, 1));
    expect(await rows('limit=1&after=1004')).toEqual(all.slice(1, 3));
  });

  it('is filtered by type, page by page, and leaves out no gap', async () => {
    const { list, rows } = await logWithGap();
    expect(await rows('type=order.created')).toEqual([
      [1003, 4],
      [2, 'order.created'],
      [1, 'order.created'],
    ]);
    expect(await list('type=order.created&limit=1')).toMatchObject({ next: '2' });
    expect(await rows('type=order.created&limit=1&after=2')).toEqual([[1, 'order.created']]);
    expect(await rows('type=order.expired')).toEqual([[1003, 4]]);
    expect(await rows('type=order.completed&after=1004')).toEqual([
      [1003, 4],
      [3, 'order.completed'],
    ]);
  });

  it('leaves out no event of a type whose position does not follow from its id', async () => {
    const { scope, rows } = await logWithGap();
    await sql`with swapped as (
        delete from event_positions where project_id = ${scope.projectId} and position < 3 returning *
      )
      insert into event_positions (project_id, mode, position, event_id)
      select project_id, mode, 3 - position + 2000, event_id from swapped`.execute(app.db);
    const pages = ['', '&after=2001'].map((after) => rows(`type=order.created&limit=1${after}`));
    expect((await Promise.all(pages)).flat()).toEqual([
      [2001, 'order.created'],
      [2002, 'order.created'],
      [1003, 4],
    ]);
  });

  it('is filtered by payment, with the gaps since it was made', async () => {
    const { rows, first, pay, complete } = await logWithGap();
    expect(await rows(`payment=${encodeId('order', first)}`)).toEqual([
      [1004, 'order.completed'],
      [1003, 4],
      [1, 'order.created'],
    ]);
    expect(await rows(`payment=${first}&type=order.created`)).toEqual([
      [1003, 4],
      [1, 'order.created'],
    ]);
    expect(await rows(`payment=${first}&limit=1&after=1004`)).toEqual([
      [1003, 4],
      [1, 'order.created'],
    ]);
    const later = await pay();
    await complete(later);
    await number();
    expect(await rows(`payment=${later}`)).toEqual([
      [1006, 'order.completed'],
      [1005, 'order.created'],
    ]);
    const { first: foreign } = await logWithGap();
    expect(await rows(`payment=${foreign}`)).toEqual([]);
  });

  it('is filtered by time, with the gaps since the last event before', async () => {
    const { rows, restoredAt } = await logWithGap();
    const since = [
      [1004, 'order.completed'],
      [1003, 4],
    ];
    expect(await rows(`created_after=${restoredAt}`)).toEqual(since);
    expect(await rows(`created_after=${restoredAt}&type=order.completed`)).toEqual(since);
    expect(await rows(`created_after=${restoredAt}&limit=1`)).toEqual(since);
    expect(await rows(`created_after=${restoredAt}&type=order.created`)).toEqual([[1003, 4]]);
  });

  it('shows an event once it has its position, and no samples of webhooks', async () => {
    const { list, rows, pay, endpoint } = await openLog();
    expect(await list()).toEqual({ data: [], next: null, head: 0 });
    expect(await sendTestEvent(app, await endpoint(), 'order.created')).toMatchObject({ kind: 'done' });
    await pay();
    expect(await rows()).toEqual([]);
    await number();
    expect(await rows()).toEqual([[1, 'order.created']]);
    expect(await rows('type=order.created')).toEqual([[1, 'order.created']]);
    expect((await list()).data).toMatchObject([{ deliveries: 1, delivered: 0 }]);
  });

  it.each(['start', 'evt_x', '-1', '1.5'])('is read on after a position, not %s', async (after) => {
    const { path } = await openLog();
    const { status, body } = await developer.call({ path: path(`?after=${after}`) });
    expect([status, body]).toMatchObject([400, { error: { param: 'after' } }]);
  });

  it('has each event with its position and the bytes that are sent, in its project and mode alone', async () => {
    const { list, path, second } = await logWithGap();
    const [row] = (await list('after=3&limit=1')).data;
    const { body } = await developer.call<EventView>({ path: path(`/${row?.id}`) });
    const stored = await sql<{ body: string }>`
      select body from events where payment_id = ${second}::uuid and type = 'order.created'`.execute(app.db);
    expect(body).toMatchObject({ position: 2, type: 'order.created', body: stored.rows[0]?.body });
    const { path: elsewhere } = await openLog();
    for (const place of [elsewhere(`/${row?.id}`), path(`/${row?.id}`, 'live'), path('/evt_x')]) {
      expect((await developer.call({ path: place })).status).toBe(404);
    }
  });
});

describe('an event that is sent again', () => {
  /** A log with one event, and its id. */
  async function logWithEvent() {
    const log = await openLog();
    await log.pay();
    await number();
    const [row] = (await log.list()).data;
    return { ...log, event: row?.id ?? '' };
  }

  it('goes to all endpoints that are on, or to one, whatever types they asked for', async () => {
    const { scope, event, endpoint, resend, list } = await logWithEvent();
    const [all, other, paused] = [await endpoint(), await endpoint('order.expired'), await endpoint()];
    await pauseEndpoint(app, paused, scope);
    const everywhere = await resend(event, null);
    expect([everywhere.status, everywhere.body.deliveries.length]).toEqual([200, 2]);
    expect((await resend(event, encodeId('endpoint', other))).body.deliveries).toHaveLength(1);
    const { rows } = await sql<{ endpoint: string }>`
      select endpoint_id as endpoint from deliveries where endpoint_id = any (${[all, other, paused]}::uuid[])
      order by id`.execute(app.db);
    expect(rows.map((row) => row.endpoint).toSorted()).toEqual([all, other, other].toSorted());
    expect((await list()).data).toMatchObject([{ deliveries: 3 }]);
    const audit = await sql`select actor_kind, subject_id from audit_log
      where action = 'webhook.resend' and project_id = ${scope.projectId}`.execute(app.db);
    const told = { actor_kind: 'person', subject_id: event };
    expect(audit.rows).toEqual([told, told]);
  });

  it('goes once if the form is sent twice', async () => {
    const { event, endpoint, resend, list } = await logWithEvent();
    await endpoint();
    const [first, second] = [await resend(event, null, 'form-twice'), await resend(event, null, 'form-twice')];
    expect([first.status, second.text]).toEqual([200, first.text]);
    expect((await list()).data).toMatchObject([{ deliveries: 1 }]);
  });

  it('is refused with the reason: no endpoint on, or one that is paused, disabled, deleted or of another place', async () => {
    const { scope, event, endpoint, resend, path } = await logWithEvent();
    const refusal = async (to: string | null, what = event) => {
      const { status, body } = await resend(what, to);
      return [status, body.error?.message];
    };
    const none = [409, 'No webhook endpoint is on. Add an endpoint, or enable one.'];
    const unknown = [404, 'There is no such webhook endpoint. Somebody may have deleted the endpoint.'];
    expect(await refusal(null)).toEqual(none);
    const [paused, disabled, deleted] = [await endpoint(), await endpoint(), await endpoint()];
    await pauseEndpoint(app, paused, scope);
    await sql`update webhook_endpoints set disabled_at = now() where id = ${disabled}::uuid`.execute(app.db);
    await deleteEndpoint(app, deleted, scope);
    const { endpoint: elsewhere, event: foreign } = await logWithEvent();
    expect(await refusal(null)).toEqual(none);
    expect(await refusal(encodeId('endpoint', paused))).toEqual([
      409,
      'The endpoint is paused, so nothing is sent to it. Enable the endpoint first.',
    ]);
    expect(await refusal(encodeId('endpoint', disabled))).toEqual([
      409,
      'The endpoint is disabled. Enable the endpoint first.',
    ]);
    for (const id of [encodeId('endpoint', deleted), encodeId('endpoint', await elsewhere()), 'we_x'])
      expect(await refusal(id)).toEqual(unknown);
    for (const id of [foreign, 'evt_x'])
      expect(await refusal(null, id)).toEqual([404, 'There is no such event in this project and mode.']);
    const body = { endpoint: null, request: 'form-live' };
    const live = await developer.call({ method: 'POST', path: path(`/${event}/resend`, 'live'), body });
    expect(live.status).toBe(404);
  });
});
