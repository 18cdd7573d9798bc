import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { keyedRequest, newPayment } from '../harness.ts';
import { dashboardTest } from '../dashboard.ts';
import { issued, withSeller } from '../../src/app/payment-requests/invoices.fixture.ts';
import { payRequest } from '../../src/app/payment-requests/pay-request.ts';
import { settleDueRequests } from '../../src/app/payment-requests/settle-requests.ts';
import { simulatePayment } from '../../src/app/payments/simulate-payment.ts';
import { findAnswer } from '../../src/store/projects/answers.ts';
import { countCustomerData } from '../../src/store/payments/customer-data.ts';
import { TEXT_COLUMNS } from '../../src/store/text-columns.fixture.ts';
import { decodeId, encodeId } from '../../src/domain/id.ts';
import { orderView } from '../../src/wire/order.ts';

const test = await dashboardTest();
const { app } = test.http;
const { db } = app;
const owner = await test.join('owner');
let { browser } = owner;
afterAll(() => test.http.close());
// Days pass in some tests, and sessions end.
beforeEach(async () => {
  browser = await test.signIn(owner.email);
});

/** In everything that is a customer's, and nowhere else. */
const WORD = 'zebrafinch';
const EMAIL = `Ada.${WORD}@customer.example`;
/** Shops name their requests as they like. */
const REQUEST = `checkout-${EMAIL}`;
const DAY_MS = 24 * 60 * 60_000;

const GIVEN = {
  customerEmail: EMAIL,
  customerName: `Ada ${WORD}`,
  description: `Tea for ${WORD}`,
  successUrl: `https://shop.example/thanks?who=${WORD}`,
  cancelUrl: `https://shop.example/cart?who=${WORD}`,
  metadata: { note: `leave it with ${WORD}`, order_id: 'A-77' },
  shopMetadata: `{"buyerCity":"${WORD}","orderId":"A-77","total":1.50}`,
  shopCheckout: `{"redirectURL":"https://shop.example/thanks?who=${WORD}"}`,
} as const;

const settings = (projectId: string) => `/dashboard/api/projects/${projectId}/settings`;
const post = async <Body>(projectId: string, path: string, body: unknown) =>
  browser.call<Body>({ method: 'POST', path: `${settings(projectId)}${path}`, body });
const remove = (projectId: string, body: object) =>
  post<{ counts: { payments: number }; next: string | null }>(projectId, '/customer-data/delete', {
    after: null,
    ...body,
  });

/** Every text, list and JSON column of the whole database in which the word stands, by table and column. */
async function placesOf(word: string): Promise<readonly string[]> {
  const places: string[] = [];
  for (const [table, columns] of Object.entries(TEXT_COLUMNS)) {
    for (const name of Object.keys(columns)) {
      const { rows } = await sql<{ found: boolean }>`
        select exists (select from ${sql.table(table)} where ${sql.ref(name)}::text ilike ${`%${word}%`}) as found`.execute(
        db,
      );
      if (rows[0]?.found === true) places.push(`${table}.${name}`);
    }
  }
  return places;
}

/** The columns that are said to be a customer's. */
const CUSTOMER_COLUMNS = Object.entries(TEXT_COLUMNS).flatMap(([table, columns]) =>
  Object.entries(columns).flatMap(([name, kind]) => (kind === 'customer' ? [`${table}.${name}`] : [])),
);

/** Entries as older versions made them, with what people wrote and searched for. */
async function fillAuditLog(projectId: string, paymentId: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`select id from refunds where payment_id = ${paymentId}`.execute(db);
  const refund = encodeId('refund', rows[0]?.id ?? '');
  const payment = encodeId('order', paymentId);
  const query = `search=${encodeURIComponent(EMAIL)}`;
  const entries = [
    ['refund.create', 'refund', refund, null, { reason: `${WORD} did not like it`, address: 'bc1q' }],
    ['refund.cancel', 'refund', refund, null, { reason: `${WORD} did not like it`, units: 1 }],
    ['payment.label', 'payment', payment, null, { label: `vip ${WORD}` }],
    ['payment.label_remove', 'payment', payment, { label: `vip ${WORD}` }, null],
    ['view.create', 'view', 'v', null, { name: `Of ${EMAIL}`, query, shared: false }],
    ['view.change', 'view', 'v', { query }, { query: 'status=pending' }],
    ['payment.export', 'payments', null, null, { mode: 'test', search: EMAIL }],
  ] as const;
  for (const [action, kind, subject, before, after] of entries) {
    await sql`insert into audit_log (id, at, actor_kind, actor_name, action, project_id, subject_kind, subject_id, before, after)
      values (gen_random_uuid(), now(), 'person', 'owner', ${action}, ${projectId}, ${kind}, ${subject},
        ${before === null ? null : JSON.stringify(before)}::jsonb, ${after === null ? null : JSON.stringify(after)}::jsonb)`.execute(
      db,
    );
  }
}

/** A paid order with the customer's data in every place that a customer's data can come to. */
async function orderEverywhere(projectId: string): Promise<string> {
  let id = '';
  const made = await app.creator.create(
    newPayment(projectId, { ...GIVEN, requestId: REQUEST }),
    (payment) => {
      id = payment.id;
      return JSON.stringify(orderView(payment, app.links));
    },
    { ...keyedRequest(projectId, `order-of-${EMAIL}`) },
  );
  expect(made.kind).toBe('done');
  await simulatePayment(app, { id }, 'paid');
  await sql`insert into refunds (id, project_id, mode, payment_id, payment_surface, status, amount_minor, currency, asset,
        network, decimals, units, reason, created_at)
      select gen_random_uuid(), project_id, mode, id, surface, 'pending', 100, currency, 'BTC', 'bitcoin', 8, 100,
        ${`${WORD} did not like it`}, created_at from payments where id = ${id}`.execute(db);
  await sql`insert into payment_notes (id, payment_id, author_id, author_name, body, version, created_at)
    values (gen_random_uuid(), ${id}, ${owner.id}, 'Owner', ${`${WORD} called`}, 1, now())`.execute(db);
  await sql`insert into attention_marks (project_id, mode, kind, subject, occurrence, note, version, changed_at)
    values (${projectId}, 'test', 'late', ${id}, '1', ${`ask ${WORD}`}, 1, now())`.execute(db);
  await sql`insert into saved_views (id, project_id, person_id, name, query, shared, version, created_at, changed_at)
    values (gen_random_uuid(), ${projectId}, ${owner.id}, ${`Of ${EMAIL}`}, ${`search=${encodeURIComponent(EMAIL)}`}, false, 1, now(), now())`.execute(
    db,
  );
  await sql`with label as (
      insert into labels (id, project_id, name, created_at)
      values (gen_random_uuid(), ${projectId}, ${`vip ${EMAIL}`}, now()) returning id)
    insert into payment_labels (payment_id, label_id, mode) select ${id}, id, 'test' from label`.execute(db);
  await fillAuditLog(projectId, id);
  await sql`insert into api_requests (project_id, mode, last_id, first_id, method, path, status, key_id, error, ids, request_ids, durations)
    values (${projectId}, 'test', '00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000001', 'GET', ${`/v1/orders/${encodeURIComponent(EMAIL)}`},
      400, gen_random_uuid(), ${`"${EMAIL}" is taken`}, '{}', ${['req-1', REQUEST]}::text[], '{}')`.execute(db);
  const shop = { ...app, projectId };
  await withSeller(shop);
  await issued(shop, { email: EMAIL });
  // One that says nothing of the customer is not counted.
  await sql`insert into events (id, project_id, mode, payment_id, type, body, created_at)
    values (gen_random_uuid(), ${projectId}, 'test', ${id}, 'order.created',
      '{"customer_email":null,"metadata":{"order_id":"A-77"},"reason":null}', now())`.execute(db);
  await sql`insert into webhook_endpoints (id, project_id, mode, url, events, secret, created_at)
    values (gen_random_uuid(), ${projectId}, 'test', 'https://shop.example/hook', '{}', '\\x00', now())`.execute(db);
  await sql`insert into deliveries (event_id, endpoint_id, state, created_at)
    select e.id, w.id, 'delivered', now() from events e, webhook_endpoints w
    where e.payment_id = ${id} and w.project_id = ${projectId}`.execute(db);
  await sql`insert into delivery_attempts (delivery_id, manual, started_at, duration_ms, request_headers, response_status,
      response_headers, response_body, response_truncated)
    select d.id, false, now(), 5, '{}', 200, ${JSON.stringify({ 'x-customer': WORD })}::jsonb, ${`thanks, ${WORD}`}, false
    from deliveries d join events e on e.id = d.event_id where e.payment_id = ${id}`.execute(db);
  await sql`insert into delivery_attempts (delivery_id, manual, started_at, duration_ms, request_headers, response_status,
      response_headers, response_body, response_truncated)
    select d.id, true, now(), 5, '{}', 200, '{}', '', false
    from deliveries d join events e on e.id = d.event_id where e.payment_id = ${id}`.execute(db);
  return id;
}

describe("the deletion of customers' data", () => {
  it('leaves nothing of one customer in any column of the database, and keeps what books need, to the last digit', async () => {
    const { projectId } = await test.http.shop();
    const id = await orderEverywhere(projectId);
    // Should a column be added to the customers', what fills it belongs above.
    expect((await placesOf(WORD)).toSorted()).toEqual(CUSTOMER_COLUMNS.toSorted());
    const before = await sql<{ body: string }>`select body from events where payment_id = ${id} order by id`.execute(
      db,
    );
    const other = await app.pay({ projectId, ...GIVEN, customerEmail: 'bob@customer.example', customerName: 'Bob' });

    const counted = await post<{ counts: object; open: number }>(projectId, '/customer-data/count', { email: EMAIL });
    expect(counted.body.counts).toMatchObject({ payments: 1, notes: 1, refund_reasons: 1, invoices: 1 });
    expect(counted.body.counts).toEqual((await remove(projectId, { email: EMAIL.toLowerCase() })).body.counts);

    const own = await app.read(id);
    expect(own).toMatchObject({ customerEmail: null, customerName: null, description: null, successUrl: null });
    expect(own).toMatchObject({ shopMetadata: '{"orderId": "A-77"}', shopCheckout: null });
    expect(own).toMatchObject({ amountMinor: 10_000n, status: 'completed', metadata: { order_id: 'A-77' } });
    const after = await sql<{ body: string }>`select body from events where payment_id = ${id} order by id`.execute(db);
    const cleared = (body: string) =>
      body
        .replace(/"customer_email":"[^"]*"/, '"customer_email":null')
        .replace(/"metadata":\{[^}]*\}/, '"metadata":{"order_id":"A-77"}');
    expect(after.rows).toEqual(before.rows.map(({ body }) => ({ body: cleared(body) })));
    const { rows: log } = await sql<{ action: string; before: object | null; after: object | null }>`
      select action, before, after from audit_log where project_id = ${projectId} and actor_name = 'owner'`.execute(db);
    const gone = '(deleted)';
    expect(log).toEqual(
      expect.arrayContaining([
        { action: 'refund.create', before: null, after: { reason: gone, address: 'bc1q' } },
        { action: 'view.create', before: null, after: { name: gone, query: gone, shared: false } },
        { action: 'view.change', before: { query: gone }, after: { query: 'status=pending' } },
        { action: 'payment.label_remove', before: { label: gone }, after: null },
      ]),
    );
    const { rows: calls } = await sql`select request_ids from api_requests where project_id = ${projectId}`.execute(db);
    expect(calls).toEqual([{ request_ids: ['req-1', gone] }]);
    // The request is still known, so that it makes no second order.
    const again = keyedRequest(projectId, `order-of-${EMAIL}`);
    expect((await findAnswer(db, again, 0))?.response).toContain('"customer_email":null');
    // The other customer's payment has the word too, and everything of it is there.
    expect(await app.read(other.id)).toMatchObject({ customerName: 'Bob', description: GIVEN.description });
    expect(await remove(projectId, { older_than_days: 1 })).toMatchObject({ body: { counts: { payments: 0 } } });
    app.clock.advance(2 * DAY_MS);
    browser = await test.signIn(owner.email);
    await simulatePayment(app, { id: other.id }, 'expired');
    expect(await remove(projectId, { older_than_days: 1 })).toMatchObject({ body: { counts: { payments: 1 } } });
    expect(await placesOf(WORD)).toEqual([]);
  });

  it('says in the log how many, and not whose; and nothing where nothing was deleted', async () => {
    const { projectId } = await test.http.shop();
    await app.pay({ projectId, customerEmail: 'eve@customer.example' });
    await remove(projectId, { email: 'eve@customer.example' });
    await remove(projectId, { email: 'eve@customer.example' });
    const entries = await db
      .selectFrom('audit_log')
      .select(['action', 'before', 'after', 'actor_name'])
      .where('project_id', '=', projectId)
      .where('action', '=', 'project.delete_customer_data')
      .execute();
    const after = { customers: 'one', payments: 1, events: 1, notes: 0, invoices: 0, audit_entries: 0 };
    expect(entries).toEqual([{ action: 'project.delete_customer_data', before: null, after, actor_name: owner.email }]);
    expect(await placesOf('eve@customer')).toEqual([]);
  });

  it('leaves open payments alone until they have ended, and says how many', async () => {
    const { projectId } = await test.http.shop();
    const old = await app.pay({
      projectId,
      customerEmail: 'old@customer.example',
      api: 'transaction',
      token: null,
    });
    app.clock.advance(3 * DAY_MS);
    browser = await test.signIn(owner.email);
    const counted = await post(projectId, '/customer-data/count', { older_than_days: 2 });
    expect(counted.body).toMatchObject({ counts: { payments: 0 }, open: 1 });
    await remove(projectId, { older_than_days: 2 });
    expect(await app.read(old.id)).toMatchObject({ customerEmail: 'old@customer.example' });
  });

  it('counts so many payments at most, and says that there are more', async () => {
    const { projectId } = await test.http.shop();
    const choice = { kind: 'email', email: 'many@customer.example' } as const;
    for (let number = 0; number < 3; number += 1) await app.pay({ projectId, customerEmail: choice.email });
    const counted = (limit: number) => countCustomerData(db, projectId, choice, limit);
    expect(await counted(2)).toMatchObject({ counts: { payments: 2, events: 2 }, hasMore: true });
    expect(await counted(3)).toMatchObject({ counts: { payments: 3, events: 3 }, hasMore: false });
  });

  it('touches no other project, and goes on where the call before ended', async () => {
    const [one, two] = [await test.http.shop(), await test.http.shop()];
    const given = { customerEmail: 'both@customer.example' };
    const theirs = await app.pay({ ...given, projectId: two.projectId });
    await app.pay({ ...given, projectId: one.projectId });
    expect(await remove(one.projectId, { email: given.customerEmail })).toMatchObject({
      body: { counts: { payments: 1 }, next: null },
    });
    expect(await app.read(theirs.id)).toMatchObject(given);
  });

  it.each([
    [{}, 'older_than_days'],
    [{ email: 'ada@customer.example', older_than_days: 3 }, 'email'],
    [{ email: 'nobody' }, 'email'],
    [{ email: '' }, 'email'],
    [{ older_than_days: 0 }, 'older_than_days'],
    [{ older_than_days: 3_651 }, 'older_than_days'],
    [{ older_than_days: 1.5 }, 'older_than_days'],
    [{ email: 'ada@customer.example', name: 'x' }, 'name'],
  ])('refuses %j and names %s', async (body, param) => {
    for (const path of ['/customer-data/count', '/customer-data/delete']) {
      const answer = await post(app.projectId, path, path.endsWith('delete') ? { after: null, ...body } : body);
      expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 400, body: { error: { param } } });
    }
  });

  it('asks for reauthentication', async () => {
    app.clock.advance(11 * 60_000);
    const answer = await remove(app.projectId, { email: 'ada@customer.example' });
    expect(answer).toMatchObject({ status: 403, body: { error: { type: 'reauthentication_required' } } });
  });
});

it('clears the texts of a request that the customer was asked for money by, and those of its events', async () => {
  const shop = await test.http.shop();
  const { projectId } = shop;
  const fields = { amount: 10, currency: 'EUR', title: `Dress for ${WORD}` };
  const texts = { description: `Blue, ${WORD}`, metadata: { who: WORD }, success_url: `https://shop.example/${WORD}` };
  const made: string[] = [];
  for (const max_payments of [1, null]) {
    const body = { ...fields, ...texts, max_payments, ask: { email: true } };
    const request = await shop.call({ path: '/v1/payment_requests', body });
    expect(request.status).toBe(200);
    const id = decodeId('request', request.body['id']) ?? '';
    const outcome = await payRequest(app, id, {
      amountMinor: null,
      email: EMAIL,
      name: null,
      note: null,
      invoiceId: null,
    });
    if (outcome.kind !== 'invoice') throw new Error(outcome.kind);
    await simulatePayment(app, { id: outcome.payment.id }, 'paid');
    made.push(request.body.id);
  }
  await settleDueRequests(app, 100);
  expect((await remove(projectId, { email: EMAIL })).status).toBe(200);
  const [once, many] = await Promise.all(made.map((id) => shop.call({ path: `/v1/payment_requests/${id}` })));
  expect(once?.body).toMatchObject({ title: '(deleted)', description: null, metadata: {}, success_url: null });
  // A request that anybody can pay says nothing of one customer.
  expect(many?.body).toMatchObject({ ...fields, ...texts });
  const { rows } = await sql<{ body: string }>`
    select body from events where project_id = ${projectId} and body like ${`%${WORD}%`}`.execute(db);
  expect(rows.filter(({ body }) => !body.includes(made[1] ?? ''))).toEqual([]);
});
