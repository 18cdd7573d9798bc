import * as fc from 'fast-check';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { begun, issued, withSeller } from '../../src/app/payment-requests/invoices.fixture.ts';
import { settleDueRequests } from '../../src/app/payment-requests/settle-requests.ts';
import { simulateOutcome } from '../../src/app/sandbox/simulate-outcome.ts';
import { encodeId, firstUuidOf } from '../../src/domain/id.ts';
import { PAYMENT_APIS } from '../../src/domain/payment.ts';
import { PAYMENT_STATUSES } from '../../src/domain/status.ts';
import type { CustomerDetails, CustomerView } from '../../src/http/dashboard/customers/contract.ts';
import { actsIn, actsTest } from './acts.fixture.ts';
import { saveRefund } from './refund-list.fixture.ts';

const { test, app, owner } = await actsTest();
const viewer = await test.join('viewer');

let projectId = '';
beforeEach(async () => {
  ({ projectId } = await test.http.shop());
});

const base = (mode = 'test', id = projectId) => `/dashboard/api/projects/${id}/${mode}/customers`;
const pay = (customerEmail: string | null, fields: object = {}) => {
  app.clock.advance(1);
  return app.pay({ projectId, customerEmail, ...fields });
};
const complete = (id: string, fields = sql`status = 'completed'`) =>
  sql`update payments set ${fields} where id = ${id}`.execute(app.db);

interface Listed {
  readonly data: readonly CustomerView[];
  readonly next: string | null;
}

async function list(query: Readonly<Record<string, string>> = {}, path = base()): Promise<Listed> {
  const answer = await owner.browser.call<Listed>({ path: `${path}?${String(new URLSearchParams(query))}` });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body;
}

/** Every page of the list. */
async function whole(search = '', limit = 3): Promise<readonly CustomerView[]> {
  const rows: CustomerView[] = [];
  let next: string | null = null;
  do {
    const page: Listed = await list({ search, limit: String(limit), ...(next !== null && { after: next }) });
    rows.push(...page.data);
    ({ next } = page);
  } while (next !== null);
  return rows;
}

const emails = async (search = '') => (await whole(search)).map(({ id }) => id);
const find = (email: string, browser = owner.browser) =>
  browser.call<CustomerDetails>({ method: 'POST', path: `${base()}/find`, body: { email } });
const exported = async (body: object, browser = owner.browser) =>
  (await browser.call({ method: 'POST', path: `${base()}/export`, body })).text;

describe('customers', () => {
  it('show open invoices for their address in any case, until these are paid', async () => {
    const shop = { ...app, projectId };
    await withSeller(shop);
    await pay('ann@shop.example');
    const request = await issued(shop, { email: 'Ann@Shop.example' });
    await issued(shop, { email: 'eve@shop.example' });
    await issued(shop, { email: 'ann@shop.example', mode: 'live' });
    expect((await find('ann@shop.example')).body.open).toMatchObject([
      { id: encodeId('request', request.id), title: 'Invoice INV-2026-0001', left: '23.8', currency: 'EUR' },
    ]);
    await simulateOutcome(app, { id: await begun(shop, request) }, 'paid');
    while ((await settleDueRequests(app, 100)) > 0);
    expect((await find('ann@shop.example')).body).toMatchObject({ open: [], payments: 2 });
  });

  it('are the addresses of payments in any case, those with the newest payments first, with sums in the shop’s currency', async () => {
    await test.http.changeProject(projectId, { defaultCurrency: 'EUR' });
    const first = await pay('Ann@Shop.example', { currency: 'EUR', amountMinor: 1_000n, amountUsdCents: 1_100n });
    const second = await pay('ann@SHOP.example', { currency: 'USD', amountMinor: 2_200n, amountUsdCents: 2_200n });
    await pay('ANN@shop.example', { currency: 'EUR', amountMinor: 9_999n });
    await pay(null);
    await pay('ben@shop.example');
    await app.pay({ customerEmail: 'of-another@project.example' });
    for (const { id } of [first, second]) await complete(id);
    await saveRefund(app, first, 'completed', { mode: 'test', currency: 'EUR', amountMinor: 400n });
    await sql`update refunds set disposal_minor = 400, disposal_usd_cents = 440 where payment_id = ${first.id}`.execute(
      app.db,
    );
    await saveRefund(app, second, 'to_sign', { mode: 'test' });
    await sql`insert into currency_rates select 'test', date_bin('1 hour', created_at, 'epoch'), '{"EUR": "110000000"}'
      from payments where id = ${second.id} on conflict (mode, hour) do update set prices = excluded.prices`.execute(
      app.db,
    );
    const ann = {
      id: 'ann@shop.example',
      payments: 3,
      completed: 2,
      is_more: false,
      value: '30',
      refunded: '4',
      currency: 'EUR',
      unvalued: 0,
    };
    const { data } = await list();
    expect(data).toMatchObject([{ id: 'ben@shop.example', payments: 1, completed: 0, value: '0' }, ann]);
    expect((await find('ANN@shop.example')).body).toMatchObject(ann);
    expect((await list({}, base('live'))).data).toEqual([]);

    // A rate that nobody knows is said, not guessed.
    await sql`delete from currency_rates`.execute(app.db);
    expect((await find('ann@shop.example')).body).toMatchObject({ value: '10', unvalued: 1 });
  });

  it('are found page by page as payments tell, each once, whatever state the payments are in', async () => {
    const ADDRESSES = ['a@x.example', 'A@x.example', 'ab@x.example', 'B@x.example', 'b_@x.example', null] as const;
    const payment = fc.record({
      email: fc.constantFrom(...ADDRESSES),
      status: fc.constantFrom(...PAYMENT_STATUSES),
      api: fc.constantFrom(...PAYMENT_APIS),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(payment, { maxLength: 12 }), fc.constantFrom('', 'A', 'b_'), async (made, search) => {
        ({ projectId } = await test.http.shop());
        const places = new Map<string, number>();
        for (const { email, status, api } of made) {
          const { id } = await pay(email, { api });
          await complete(id, sql`status = ${status}`);
          const address = email?.toLowerCase();
          if (address?.startsWith(search.toLowerCase()) !== true) continue;
          places.delete(address);
          places.set(address, 0);
        }
        expect(await emails(search)).toEqual([...places.keys()].toReversed());
      }),
      { numRuns: 25 },
    );
  });

  it('are found by the beginning of an address as it is written: no sign of it is a pattern', async () => {
    const odd = ['100%@x.example', '1000@x.example', 'a_b@x.example', 'axb@x.example', `o'neil"@x.example`];
    for (const email of odd) await pay(email);
    expect(await emails('100%')).toEqual(['100%@x.example']);
    expect(await emails('a_')).toEqual(['a_b@x.example']);
    expect(await emails('O\'NEIL"')).toEqual([`o'neil"@x.example`]);
    for (const other of ['Ä', '\u{10ffff}', '🍕', '\\']) expect(await emails(other)).toEqual([]);
    expect(await emails('%')).toEqual([]);
    expect(await emails('x.example')).toEqual([]);
    for (const bad of ['after=x', 'limit=0', `search=${'a'.repeat(255)}`]) {
      expect((await owner.browser.call({ path: `${base()}?${bad}` })).status).toBe(400);
    }
    expect((await find('nobody@x.example')).status).toBe(404);
  });

  it('of a project of thousands are found behind thousands of payments from one address', async () => {
    await pay('one@x.example');
    // The newest 10,100 payments have one address, and 2,100 customers are behind them, of whom few begin with 17.
    const at = app.clock();
    const columns = Object.keys(await app.db.selectFrom('payments').selectAll().limit(1).executeTakeFirstOrThrow());
    const replaced: Readonly<Record<string, string>> = {
      id: `('${firstUuidOf(at - 20_000).slice(0, 24)}' || lpad(to_hex(n), 12, '0'))::uuid`,
      customer_email: `case when n > 2100 then 'One@x.example' else n || '@x.example' end`,
      status: `'expired'`,
    };
    await sql`insert into payments (${sql.join(columns.map((name) => sql.id(name)))})
      select ${sql.join(columns.map((name) => sql.raw(replaced[name] ?? `p.${name}`)))}
      from payments p, generate_series(1, 12200) n where p.project_id = ${projectId}`.execute(app.db);
    await sql`analyze payments`.execute(app.db);
    const { data, next } = await list();
    expect(data).toHaveLength(50);
    expect(data[0]).toMatchObject({ id: 'one@x.example', payments: 10_000, is_more: true, value: null });
    expect(data[1]).toMatchObject({ id: '2100@x.example', payments: 1, value: '0' });
    const second = await list({ after: next ?? '' });
    expect(second.data[0]).toMatchObject({ id: '2051@x.example' });
    expect(await whole('', 100)).toHaveLength(2_101);
    expect(await whole('17', 40)).toHaveLength(111);
    expect(JSON.parse(await exported({ format: 'jsonl', search: 'one' }))).toMatchObject({ payments: 10_101 });
  });

  it('open with their newest payments, refunds and notes, and their payments are a list of its own', async () => {
    const ann = await pay('Ann@shop.example', { api: 'transaction', token: null });
    await pay('annabel@shop.example');
    await complete(ann.id);
    const refund = await saveRefund(app, ann, 'to_sign', { mode: 'test' });
    await actsIn(test, 'test', projectId).post(owner.browser, ann.id, 'notes', { text: '<b>Call</b> her' });
    const { body } = await find('ann@shop.example', viewer.browser);
    expect(body.newest.map(({ id }) => id)).toEqual([ann.id]);
    expect(body.refunds).toMatchObject([{ id: refund, status: 'pending' }]);
    expect(body.notes).toMatchObject([{ payment: ann.id, body: '<b>Call</b> her' }]);
    const path = `/dashboard/api/projects/${projectId}/test/payments?customer_email=ANN@shop.example`;
    const found = await owner.browser.call<{ data: readonly { id: string }[] }>({ path });
    expect(found.body.data.map(({ id }) => id)).toEqual([ann.id]);
  });

  it('whose data was deleted are in no list and no file', async () => {
    await pay('gone@shop.example');
    await pay('stays@shop.example');
    const path = `/dashboard/api/projects/${projectId}/settings/customer-data/delete`;
    const body = { email: 'GONE@shop.example', after: null };
    const { browser } = owner;
    expect((await browser.call({ method: 'POST', path, body })).status).toBe(200);
    expect(await emails()).toEqual(['stays@shop.example']);
    expect((await find('gone@shop.example')).status).toBe(404);
    expect(await exported({ format: 'jsonl' })).not.toContain('gone');
  });

  it('are exported whole, exactly, guarded against spreadsheets, and the log keeps no address', async () => {
    const { id } = await pay('=Sum(1)@x.example', { currency: 'USD', amountMinor: 1_234n, amountUsdCents: 1_234n });
    await complete(id);
    await pay('ann@x.example');
    const csv = await exported({ format: 'csv' }, viewer.browser);
    const [heads, ...lines] = csv.trim().split('\n');
    expect(heads).toBe('e-mail,payments,completed,value,refunded,currency,without a known rate,last payment (UTC)');
    expect(lines[0]).toMatch(/^ann@x\.example,1,0,0\.00,0\.00,USD,0,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(lines[1]).toMatch(/^'=sum\(1\)@x\.example,1,1,12\.34,/);
    app.clock.advance(1);
    const rows = (await exported({ format: 'jsonl', search: 'ANN' })).trim().split('\n');
    expect(rows.map((row) => JSON.parse(row) as unknown)).toMatchObject([
      { email: 'ann@x.example', payments: 1, value: '0.00', refunded: '0.00', currency: 'USD' },
    ]);
    const entries = await app.db
      .selectFrom('audit_log')
      .select(['action', 'after'])
      .where('action', '=', 'customer.export')
      .where('project_id', '=', projectId)
      .orderBy('id')
      .execute();
    expect(entries.map(({ after }) => after)).toEqual([
      { mode: 'test', format: 'csv' },
      { mode: 'test', format: 'jsonl', has_search: true },
    ]);
  });
});
