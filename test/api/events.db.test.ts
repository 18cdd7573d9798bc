import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { completeSandboxPayment } from '../../src/app/payments/payment-actions.ts';
import { simulatePayment } from '../../src/app/payments/simulate-payment.ts';
import { removeCustomerData } from '../../src/app/projects/customer-data.ts';
import { purgeOld } from '../../src/app/purge-old.ts';
import { sendTestEvent } from '../../src/app/webhooks/deliveries.ts';
import { numberDue } from '../../src/app/webhooks/number-events.ts';
import { pauseEndpoint } from '../../src/app/webhooks/change-endpoint.ts';
import { webhookApp } from '../../src/app/webhooks/webhooks.fixture.ts';
import { decodeId, encodeId } from '../../src/domain/id.ts';
import { insertDelivery } from '../../src/store/webhooks/deliveries.ts';
import { holdEvent } from '../../src/store/webhooks/event-list.ts';
import { logEnds, readLog } from '../../src/store/webhooks/event-log.ts';
import { purgeLogBefore, skipPositions } from '../../src/store/webhooks/event-positions.ts';
import { httpTest, type Shop } from '../http.ts';

const http = await httpTest();
const { app } = http;
afterAll(() => http.close());

interface Page {
  readonly data: readonly {
    readonly position: number;
    readonly event?: { readonly id: string; readonly type: string };
    readonly gap?: object;
  }[];
  readonly next: string;
  readonly head: number;
  readonly oldest: number;
}

const order = async (shop: Shop): Promise<string> =>
  (await shop.call({ path: '/v1/orders', body: { amount: 25, currency: 'USD', crypto_currency: 'BTC' } })).body.id;
const complete = (id: string) => completeSandboxPayment(app, { id: decodeId('order', id) ?? '' });
const number = async (): Promise<void> => {
  while (await numberDue(app));
};
const read = async (shop: Shop, query = ''): Promise<Page> => {
  const answer = await shop.call<Page>({ path: `/v1/events?${query}` });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.body;
};
const typesIn = ({ data }: Page) => data.map(({ position, event }) => [position, event?.type]);

/** A shop with two orders, of which the second is completed: three events. */
async function shopWithEvents() {
  const shop = await http.shop();
  const [first, second] = [await order(shop), await order(shop)];
  await complete(second);
  await number();
  return { shop, first, second };
}

describe('the log of events', () => {
  it('has each event once, at positions from 1 on, byte for byte as it is stored', async () => {
    const { shop } = await shopWithEvents();
    const { text, body } = await shop.call<Page>({ path: '/v1/events' });
    expect(typesIn(body)).toEqual([
      [1, 'order.created'],
      [2, 'order.created'],
      [3, 'order.completed'],
    ]);
    expect(body).toMatchObject({ next: '3', head: 3, oldest: 1 });
    const { rows } = await sql<{ body: string }>`
      select body from events where project_id = ${shop.projectId}`.execute(app.db);
    for (const stored of rows) expect(text).toContain(`"event":${stored.body}}`);
  });

  it('is read in pages, each beginning after the last one', async () => {
    const { shop } = await shopWithEvents();
    const first = await read(shop, 'limit=2');
    expect(typesIn(first).map(([position]) => position)).toEqual([1, 2]);
    const second = await read(shop, `limit=2&after=${first.next}`);
    expect(typesIn(second)).toEqual([[3, 'order.completed']]);
    expect(await read(shop, `after=${second.next}`)).toMatchObject({ data: [], next: '3', head: 3 });
  });

  it('begins at the oldest, at the end, or after a named event', async () => {
    const { shop } = await shopWithEvents();
    const [, second] = (await read(shop, 'after=start')).data;
    expect(typesIn(await read(shop, `after=${second?.event?.id}`))).toEqual([[3, 'order.completed']]);
    expect(await read(shop, 'after=now')).toMatchObject({ data: [], next: '3' });
  });

  it('filters by type and payment, and moves on past what the filters leave out', async () => {
    const { shop, first, second } = await shopWithEvents();
    expect(await read(shop, 'types=order.expired')).toMatchObject({ data: [], next: '3' });
    expect(typesIn(await read(shop, 'types=order.completed, order.expired'))).toEqual([[3, 'order.completed']]);
    expect(typesIn(await read(shop, `payment=${first}`))).toEqual([[1, 'order.created']]);
    expect(typesIn(await read(shop, `payment=${second}&types=order.created`))).toEqual([[2, 'order.created']]);
  });

  it('has gaps, which no filter leaves out', async () => {
    const { shop, first } = await shopWithEvents();
    await sql`insert into event_positions (project_id, mode, position, gap_from, gap_reason)
      values (${shop.projectId}, 'test', 1003, 4, 'restored')`.execute(app.db);
    await sql`update event_heads set head = 1003 where project_id = ${shop.projectId}`.execute(app.db);
    await complete(first);
    await number();
    const gap = { position: 1003, gap: { from: 4, to: 1003, reason: 'restored' } };
    for (const query of ['after=3', 'after=3&types=order.completed', `after=500&payment=${first}`]) {
      expect((await read(shop, query)).data).toEqual([gap, { position: 1004, event: expect.any(Object) }]);
    }
  });

  it('is that of the key’s own project and mode, whatever API made the payment', async () => {
    const { shop } = await shopWithEvents();
    const other = await http.shop();
    await other.call({ path: '/api/transactions/create', body: { amount: 10, projectId: other.projectId } });
    await number();
    expect(typesIn(await read(other))).toEqual([[1, 'order.created']]);
    expect((await shop.call<Page>({ side: 'live', path: '/v1/events' })).body).toEqual({
      data: [],
      next: '0',
      head: 0,
      oldest: 1,
    });
  });

  it('has no samples of webhooks', async () => {
    const { shop } = await shopWithEvents();
    const { register } = await webhookApp({ app });
    const { id } = await register('http://127.0.0.1:9/', { projectId: shop.projectId });
    for (const type of ['order.completed', 'payment.lost'])
      expect(await sendTestEvent(app, id, type)).toMatchObject({ kind: 'done' });
    await number();
    expect(await read(shop)).toMatchObject({ head: 3 });
  });
});

describe('a cursor that is none', () => {
  it.each(['-1', '1.5', 'x', '', '9'.repeat(19), 'evt_x', 'ord_x'])('%j is refused with the rule', async (after) => {
    const { shop } = await shopWithEvents();
    const { status, body } = await shop.call({ path: `/v1/events?after=${after}` });
    expect([status, body]).toMatchObject([400, { error: { type: 'invalid_request_error', param: 'after' } }]);
  });

  it('beyond the end is refused with the end, and one of another log as unknown', async () => {
    const [{ shop }, { shop: other }] = [await shopWithEvents(), await shopWithEvents()];
    const [entry] = (await read(other)).data;
    const message = async (after = '') => (await shop.call({ path: `/v1/events?after=${after}` })).body['error'];
    expect(await message('4')).toMatchObject({ message: expect.stringContaining('ends at 3') });
    expect(await message(entry?.event?.id)).toMatchObject({ message: expect.stringContaining('not in the log') });
  });

  it('below the oldest kept position is answered 410 with the way on', async () => {
    const { shop } = await shopWithEvents();
    await sql`delete from event_positions where project_id = ${shop.projectId} and position < 3`.execute(app.db);
    await sql`update event_heads set oldest = 3 where project_id = ${shop.projectId}`.execute(app.db);
    const { status, body } = await shop.call({ path: '/v1/events?after=1' });
    expect([status, body]).toMatchObject([
      410,
      { error: { type: 'gone_error', message: expect.stringContaining('is 3'), oldest: 3 } },
    ]);
    expect(typesIn(await read(shop, 'after=2'))).toEqual([[3, 'order.completed']]);
    expect(typesIn(await read(shop, 'after=start'))).toEqual([[3, 'order.completed']]);
  });

  it('an event that has no position yet leads to the same place again', async () => {
    const { shop, first } = await shopWithEvents();
    await complete(first);
    const { rows } = await sql<{ id: string }>`
      select event_id as id from unnumbered_events join events on events.id = event_id
      where project_id = ${shop.projectId}`.execute(app.db);
    const after = encodeId('event', rows[0]?.id ?? '');
    expect(await read(shop, `after=${after}`)).toMatchObject({ data: [], next: after });
    await number();
    expect(await read(shop, `after=${after}`)).toMatchObject({ data: [], next: '4' });
  });
});

describe('waiting for events', () => {
  const waits = (count: number) => expect.poll(() => http.logs.waiting()).toBe(count);

  it('is answered as soon as one comes that is wanted', async () => {
    const { shop, first, second } = await shopWithEvents();
    const waiting = read(shop, 'after=3&wait=30&types=order.completed');
    await waits(1);
    await order(shop);
    await number();
    await complete(first);
    await number();
    expect(typesIn(await waiting)).toEqual([[5, 'order.completed']]);
    expect(second).not.toBe(first);
    await waits(0);
  });

  it('is over at once if there is something, or if nothing may be waited for', async () => {
    const { shop } = await shopWithEvents();
    expect(typesIn(await read(shop, 'wait=30'))).toHaveLength(3);
    expect(await read(shop, 'after=now&wait=0')).toMatchObject({ data: [] });
    expect((await shop.call({ path: '/v1/events?wait=31' })).status).toBe(400);
  });

  it('ends without events where its key was revoked meanwhile', async () => {
    const { shop, first } = await shopWithEvents();
    const key = await shop.key({ permission: 'read' });
    const waiting = http.call({ path: '/v1/events?after=3&wait=30', key });
    await waits(1);
    await http.revokeKey(key);
    await complete(first);
    await number();
    expect((await waiting).status).toBe(401);
  });

  it('is for 20 calls of a key at a time', async () => {
    const { shop, first } = await shopWithEvents();
    const waiting = Array.from({ length: 20 }, () => read(shop, 'after=3&wait=30'));
    await waits(20);
    const { status, headers, body } = await shop.call({ path: '/v1/events?after=3&wait=30' });
    expect([status, headers['retry-after'], body]).toMatchObject([429, '5', { error: { type: 'rate_limit_error' } }]);
    expect(await read(shop, 'after=3')).toMatchObject({ data: [] });
    await complete(first);
    await number();
    for (const page of await Promise.all(waiting)) expect(typesIn(page)).toEqual([[4, 'order.completed']]);
  });
});

describe('an event', () => {
  it('is read with its deliveries, and sent again to one endpoint or to all that are on, whatever they asked for', async () => {
    const shop = await http.shop();
    const { register } = await webhookApp({ app });
    const endpoints = ['all', 'order.expired', 'all'];
    const made = [];
    for (const events of endpoints)
      made.push(await register('http://127.0.0.1:9/', { projectId: shop.projectId, events }));
    const [all, expired, paused] = made.map(({ id }) => encodeId('endpoint', id));
    await pauseEndpoint(app, made[2]?.id ?? '', { projectId: shop.projectId, mode: 'test' });
    await order(shop);
    await number();
    const [entry] = (await read(shop)).data;
    const path = `/v1/events/${entry?.event?.id}`;
    const read1 = async () => (await shop.call<{ position: number; deliveries: readonly object[] }>({ path })).body;
    expect(await read1()).toMatchObject({
      position: 1,
      event: entry?.event,
      deliveries: expect.arrayContaining([
        expect.objectContaining({ endpoint: all, state: 'waiting', attempts: 0, last_status: null }),
        expect.objectContaining({ endpoint: paused, state: 'waiting' }),
      ]),
    });
    const resend = (body: object) => shop.call({ path: `${path}/resend`, body });
    expect((await resend({ endpoint: expired })).body).toMatchObject({ deliveries: [{ endpoint: expired }] });
    const { deliveries } = (await resend({})).body as {
      readonly deliveries?: readonly { readonly endpoint: string }[];
    };
    expect(deliveries?.map(({ endpoint }) => endpoint)).toEqual(expect.arrayContaining([all, expired]));
    expect((await read1()).deliveries).toHaveLength(5);
    expect((await resend({ endpoint: paused })).status).toBe(409);
    const again = () => shop.call({ path: `${path}/resend`, body: {}, headers: { 'idempotency-key': 'once' } });
    const [first, second] = [await again(), await again()];
    expect([second.text, second.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    expect((await read1()).deliveries).toHaveLength(7);
  });

  it('that does not exist, or an endpoint that does not, is not found', async () => {
    const [{ shop }, { shop: other }] = [await shopWithEvents(), await shopWithEvents()];
    const [entry] = (await read(other)).data;
    for (const id of [entry?.event?.id, 'evt_x', 'x']) {
      expect((await shop.call({ path: `/v1/events/${id}` })).status).toBe(404);
      expect((await shop.call({ path: `/v1/events/${id}/resend`, body: {} })).status).toBe(404);
    }
    const [own] = (await read(shop)).data;
    const answers = [{ endpoint: 'we_x' }, { endpoint: encodeId('endpoint', shop.projectId) }, {}].map((body) =>
      shop.call({ path: `/v1/events/${own?.event?.id}/resend`, body }),
    );
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 404, 409]);
  });
});

it.each([
  [{ permission: 'read' }, [200, 200, 403]],
  [{ permission: 'write' }, [403, 403, 409]],
  [{ kind: 'public' }, [403, 403, 403]],
  [{ permission: null, scopes: ['events'] }, [200, 200, 409]],
  [{ permission: null, scopes: ['payments:read'] }, [403, 403, 403]],
] as const)('a key with %j may do so much with events: %j', async (as, statuses) => {
  const { shop } = await shopWithEvents();
  const [entry] = (await read(shop)).data;
  const path = `/v1/events/${entry?.event?.id}`;
  const calls = [{ path: '/v1/events' }, { path }, { path: `${path}/resend`, body: {} }];
  const answers = await Promise.all(calls.map((call) => shop.call({ ...call, as })));
  expect(answers.map(({ status }) => status)).toEqual(statuses);
});

describe('events older than EVENT_DAYS', () => {
  const DAY_MS = 24 * 60 * 60_000;
  const purge = async (): Promise<void> => {
    while (await purgeOld(app, 62 * DAY_MS));
  };
  /** One of this database's sessions waits for another. */
  const untilBlocked = () =>
    expect
      .poll(async () => {
        const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return (await waiting.execute(app.db)).rows.length;
      })
      .toBe(1);
  const rowsOf = (shop: Shop) =>
    app.db.selectFrom('events').select(['id', 'type']).where('project_id', '=', shop.projectId).execute();

  it('leave the log, the rest of which keeps its positions, and their ids are unknown', async () => {
    const { shop, first } = await shopWithEvents();
    const [old] = (await read(shop)).data;
    http.clock.advance(63 * DAY_MS);
    await complete(first);
    await number();
    await purge();
    expect(await read(shop, 'after=start')).toMatchObject({ data: [{ position: 4 }], oldest: 4, head: 4 });
    expect((await shop.call({ path: '/v1/events?after=2' })).status).toBe(410);
    expect(typesIn(await read(shop, 'after=3'))).toEqual([[4, 'order.completed']]);
    expect((await shop.call({ path: `/v1/events/${old?.event?.id}` })).status).toBe(404);
    expect((await shop.call({ path: `/v1/events/${old?.event?.id}/resend`, body: {} })).status).toBe(404);
    expect(await rowsOf(shop)).toHaveLength(1);
    http.clock.advance(63 * DAY_MS);
    await purge();
    expect(await read(shop, 'after=start')).toEqual({ data: [], next: '4', head: 4, oldest: 5 });
    await order(shop);
    await number();
    expect(typesIn(await read(shop, 'after=start'))).toEqual([[5, 'order.created']]);
  });

  it('stay while a delivery waits for them, and what attention and refunds read stays with its payment', async () => {
    const shop = await http.shop();
    const { register } = await webhookApp({ app });
    await register('http://127.0.0.1:9/', { projectId: shop.projectId, events: 'order.created' });
    const id = await order(shop);
    await simulatePayment(app, { id: decodeId('order', id) ?? '' }, 'part');
    await number();
    http.clock.advance(63 * DAY_MS);
    await purge();
    const types = async () => (await rowsOf(shop)).map(({ type }) => type).toSorted();
    expect(await types()).toEqual(['order.created', 'order.exception']);
    expect(await read(shop, 'after=start')).toMatchObject({ data: [], oldest: 3 });
    await sql`update deliveries set next_attempt_at = null, state = 'failed'`.execute(app.db);
    http.clock.advance(90 * DAY_MS);
    await purge();
    expect(await types()).toEqual(['order.exception']);
  });

  it('go with the gaps before them; younger gaps stay', async () => {
    const shop = await http.shop();
    const scope = { projectId: shop.projectId, mode: 'test' } as const;
    await skipPositions(app.db, 10, 'restored');
    await order(shop);
    await number();
    http.clock.advance(63 * DAY_MS);
    await skipPositions(app.db, 10, 'restored');
    await purge();
    expect(await logEnds(app.db, scope)).toEqual({ head: 21n, oldest: 12n });
    expect(await read(shop, 'after=start')).toMatchObject({ data: [{ position: 21, gap: { from: 12 } }] });
  });

  it('never come back where two workers with other clocks delete them', async () => {
    const { shop } = await shopWithEvents();
    http.clock.advance(DAY_MS);
    await order(shop);
    await number();
    const later = await app.db.startTransaction().execute();
    await purgeLogBefore(later, http.clock() + 1, 10);
    const earlier = app.db.transaction().execute((trx) => purgeLogBefore(trx, http.clock() - 1, 10));
    await untilBlocked();
    await later.commit().execute();
    await earlier;
    expect(await logEnds(app.db, { projectId: shop.projectId, mode: 'test' })).toEqual({ head: 4n, oldest: 5n });
  });

  it('stay where they are sent again at the same time', async () => {
    const { shop } = await shopWithEvents();
    const { register } = await webhookApp({ app });
    const endpoint = await register('http://127.0.0.1:9/', { projectId: shop.projectId, events: 'order.expired' });
    const [entry] = (await read(shop)).data;
    const eventId = decodeId('event', entry?.event?.id ?? '') ?? '';
    const resending = await app.db.startTransaction().execute();
    await holdEvent(resending, eventId);
    await insertDelivery(resending, eventId, endpoint.id, http.clock());
    const purging = app.db.transaction().execute((trx) => purgeLogBefore(trx, http.clock() + 1, 10));
    await untilBlocked();
    await resending.commit().execute();
    await purging;
    expect((await rowsOf(shop)).map(({ id }) => id)).toEqual([eventId]);
  });

  it('take their ended deliveries with them, answers included', async () => {
    const shop = await http.shop();
    const { register } = await webhookApp({ app });
    const endpoint = await register('http://127.0.0.1:9/', { projectId: shop.projectId, events: 'order.created' });
    await order(shop);
    await number();
    await sql`update deliveries set next_attempt_at = null, state = 'delivered'`.execute(app.db);
    http.clock.advance(63 * DAY_MS);
    await purge();
    const left = await app.db.selectFrom('deliveries').select('id').where('endpoint_id', '=', endpoint.id).execute();
    expect(left).toEqual([]);
  });

  it('that are deleted while they are read are not passed over in silence', async () => {
    const { shop } = await shopWithEvents();
    const scope = { projectId: shop.projectId, mode: 'test' } as const;
    const query = { after: 0n, limit: 10, types: null, paymentId: null };
    await sql`update event_heads set oldest = 3 where project_id = ${shop.projectId}`.execute(app.db);
    expect(await readLog(app.db, scope, query)).toBe('deleted');
  });
});

it("keeps the positions of a customer's events when their data are deleted", async () => {
  const shop = await http.shop();
  const body = { amount: 25, currency: 'USD', crypto_currency: 'BTC', customer_email: 'anna@customer.example' };
  const { id } = (await shop.call({ path: '/v1/orders', body })).body;
  await complete(id);
  await number();
  expect((await shop.call({ path: '/v1/events' })).text).toContain('anna@customer.example');
  await removeCustomerData(app, shop.projectId, { email: 'anna@customer.example' }, null);
  const cleared = await shop.call<Page>({ path: '/v1/events' });
  expect(cleared.text).not.toContain('anna');
  expect(typesIn(cleared.body)).toEqual([
    [1, 'order.created'],
    [2, 'order.completed'],
  ]);
});

it('ends a page before it is larger than two megabytes, and goes on where it ended', async () => {
  const shop = await http.shop();
  const metadata = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key-${index}`, '€'.repeat(450)]));
  for (let made = 0; made < 50; made += 1) {
    await shop.call({ path: '/v1/orders', body: { amount: 25, currency: 'USD', crypto_currency: 'BTC', metadata } });
  }
  await number();
  const first = await read(shop, 'limit=500');
  expect(first.data.length).toBeLessThan(45);
  expect(JSON.stringify(first).length).toBeLessThan(2_100_000);
  const second = await read(shop, `limit=500&after=${first.next}`);
  expect(first.data.length + second.data.length).toBe(50);
  expect(second).toMatchObject({ next: '50', head: 50 });
});
