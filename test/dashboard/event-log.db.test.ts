import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { completeSandboxPayment } from '../../src/app/payments/payment-actions.ts';
import { sendTestEvent } from '../../src/app/webhooks/deliveries.ts';
import { numberDue } from '../../src/app/webhooks/number-events.ts';
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
