import type { AddressInfo } from 'node:net';
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { EXPORT_COLUMNS } from '../../src/domain/export-column.ts';
import type { ExportRequest } from '../../src/http/dashboard/payment-list/contract.ts';
import type { PaymentRow } from '../../src/http/dashboard/payments/contract.ts';
import { patienceWith } from '../../src/http/dashboard/send-file.ts';
import { dashboardRoutes } from '../../src/http/dashboard/routes.ts';
import { dashboardTest, type Browser } from '../dashboard.ts';
import { WAIT } from '../deadline.ts';

const test = await dashboardTest({ exports: { recheckMs: 20 } });
const { app } = test.http;
const owner = await test.join('owner');
afterAll(() => test.http.close());

const pathOf = (projectId: string, mode = 'test'): string =>
  `/dashboard/api/projects/${projectId}/${mode}/payments/export`;

async function take(body: ExportRequest = {}, projectId = app.projectId, mode = 'test') {
  const answer = await owner.browser.call({ method: 'POST', path: pathOf(projectId, mode), body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}

/** Rows of cells, as a spreadsheet reads them: RFC 4180, quotes count where a cell begins with one. */
function parse(text: string, separator = ','): readonly (readonly string[])[] {
  const cells: string[][] = [[]];
  for (let at = 0; at < text.length;) {
    let cell = '';
    if (text[at] === '"') {
      let close = at + 1;
      while (close < text.length && !(text[close] === '"' && text[close + 1] !== '"')) {
        close += text[close] === '"' ? 2 : 1;
      }
      cell = text.slice(at + 1, close).replaceAll('""', '"');
      at = close + 1;
    }
    while (at < text.length && text[at] !== separator && text[at] !== '\n' && text[at] !== '\r') cell += text[at++];
    cells.at(-1)?.push(cell);
    if (text[at] === '\n' || text[at] === '\r') cells.push([]);
    at += 1;
  }
  return cells.filter((row) => row.length > 0);
}

/** The rows of a file by the heads of its columns. */
function records(text: string): readonly Readonly<Record<string, string>>[] {
  const [heads = [], ...rows] = parse(text);
  return rows.map((row) => Object.fromEntries(heads.map((head, index) => [head, row[index] ?? ''])));
}

async function listed(projectId: string, query = ''): Promise<readonly PaymentRow[]> {
  const path = `/dashboard/api/projects/${projectId}/test/payments?limit=100${query}`;
  return (await owner.browser.call<{ readonly data: readonly PaymentRow[] }>({ path })).body.data;
}

/** A project with payments of every kind. */
async function variedShop(): Promise<string> {
  const { projectId } = await test.http.shop();
  const tokens = [
    { asset: 'BTC', network: 'bitcoin' },
    { asset: 'ETH', network: 'ethereum' },
    { asset: 'USDT', network: 'bsc' },
  ] as const;
  for (let n = 0; n < 12; n += 1) {
    await app.pay({
      projectId,
      api: n % 2 === 0 ? 'order' : 'transaction',
      currency: n % 4 === 3 ? 'JPY' : 'EUR',
      amountMinor: 4_999n + BigInt(n) * 7n,
      token: n === 5 ? null : (tokens[n % 3] ?? null),
      merchantOrderId: n % 3 === 0 ? null : `NW-${n}`,
      description: n % 5 === 0 ? null : `Tea, "green"\nand ünïcode 茶 ${n}`,
      customerEmail: n % 4 === 0 ? null : `ann${n}@example.com`,
    });
    app.clock.advance(61_000);
  }
  return projectId;
}

describe('a file of payments', () => {
  let projectId: string;
  beforeAll(async () => {
    projectId = await variedShop();
  });

  it('has what the list has, of every payment, the newest first, amounts exact', async () => {
    const answer = await take({}, projectId);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': expect.stringMatching(/^attachment; filename="payments-test-\d{4}-\d{2}-\d{2}\.csv"$/),
      'cache-control': 'no-store',
      'x-rows-about': '12',
    });
    const [heads] = parse(answer.text);
    expect(heads).toEqual([
      'id',
      'number',
      'order id',
      'created (UTC)',
      'status',
      'exception',
      'description',
      'e-mail',
      'amount',
      'currency',
      'coin',
      'network',
      'coin amount',
      'received',
      'completed (UTC)',
    ]);
    const rows = records(answer.text);
    const list = await listed(projectId);
    expect(rows).toHaveLength(12);
    expect(rows.map((row) => ({ ...row, amount: Number(row['amount']) }))).toEqual(
      list.map((payment) => ({
        id: payment.id,
        number: payment.transaction_number ?? '',
        'order id': payment.order_id ?? '',
        'created (UTC)': payment.created_at.slice(0, 19).replace('T', ' '),
        status: payment.status,
        exception: payment.exception === 'none' ? '' : payment.exception,
        description: payment.description ?? '',
        'e-mail': payment.customer_email ?? '',
        amount: Number(payment.amount),
        currency: payment.currency,
        coin: payment.crypto?.asset ?? '',
        network: payment.crypto?.network ?? '',
        'coin amount': payment.crypto?.owed ?? '',
        received: payment.crypto?.received ?? '',
        'completed (UTC)': payment.completed_at?.slice(0, 19).replace('T', ' ') ?? '',
      })),
    );
    for (const { amount, currency } of rows) expect(amount).toMatch(currency === 'JPY' ? /^\d+$/ : /^\d+\.\d\d$/);
  });

  it('is JSON in lines as well, with the same in it', async () => {
    const answer = await take({ format: 'jsonl' }, projectId);
    expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const rows = answer.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const list = await listed(projectId);
    expect(
      rows.map(({ id, description, created, coin_amount }) => ({ id, description, created, coin_amount })),
    ).toEqual(
      list.map(({ id, description, created_at, crypto }) => ({
        id,
        description,
        created: created_at,
        coin_amount: crypto === null ? null : crypto.owed,
      })),
    );
    expect(Object.keys(rows[0] ?? {})).toEqual(EXPORT_COLUMNS.slice(0, 15));
  });

  it('has the columns that were chosen, in its own order, and any of them alone', async () => {
    const wide = await take({ columns: [...EXPORT_COLUMNS].toReversed() }, projectId);
    expect(parse(wide.text)[0]?.map((head) => head.replace(' (UTC)', ''))).toHaveLength(EXPORT_COLUMNS.length);
    expect(records(wide.text)).toHaveLength(12);
    for (const column of EXPORT_COLUMNS) {
      const csv = await take({ columns: [column] }, projectId);
      const lines = await take({ columns: [column], format: 'jsonl' }, projectId);
      expect([
        column,
        lines.text
          .trim()
          .split('\n')
          .map((line) => Object.keys(JSON.parse(line) as object)),
      ]).toEqual([column, Array.from({ length: 12 }, () => [column])]);
      expect([column, csv.text.split('\n')[0]]).not.toEqual([column, '']);
    }
  });

  it('has what the filters of the list mean, and nothing else', async () => {
    const { data: found } = (
      await owner.browser.call<{ data: readonly PaymentRow[] }>({
        path: `/dashboard/api/projects/${projectId}/test/payments?search=tea`,
      })
    ).body;
    expect(found.length).toBeGreaterThan(5);
    for (const filters of [
      { search: 'tea' },
      { search: 'ann1@example.com' },
      { status: 'pending', asset: 'ETH' },
      { amount_min: '50.10', amount_max: '50.50' },
      { currency: 'JPY' },
      { api: 'order', network: 'bitcoin,bsc' },
      { exception: 'underpaid' },
      { created_before: '2026-06-15T12:05:00Z' },
      { label: 'nothing has it' },
    ] satisfies readonly ExportRequest[]) {
      const query = new URLSearchParams(Object.entries(filters)).toString();
      const { text } = await take({ ...filters, columns: ['id'] }, projectId);
      expect([query, text.trim().split('\n').slice(1)]).toEqual([
        query,
        (await listed(projectId, `&${query}`)).map(({ id }) => id),
      ]);
    }
  });

  it('names the zone of its times', async () => {
    const { text } = await take({ zone: 'Asia/Kolkata', columns: ['id', 'created'] }, projectId);
    const [first] = records(text);
    const [payment] = await listed(projectId);
    const local = new Date(Date.parse(payment?.created_at ?? '') + 5.5 * 3_600_000).toISOString();
    expect(first?.['created (Asia/Kolkata)']).toBe(local.slice(0, 19).replace('T', ' '));
  });

  it('can be what spreadsheets take where a comma is in numbers', async () => {
    const { text } = await take({ separator: 'semicolon' }, projectId);
    expect(text.startsWith('\ufeffid;number;order id;')).toBe(true);
    expect(parse(text.slice(1), ';')).toHaveLength(13);
  });

  it('has nothing of another project or mode', async () => {
    const other = await test.http.shop();
    expect(records((await take({}, other.projectId)).text)).toEqual([]);
    expect(records((await take({}, projectId, 'live')).text)).toEqual([]);
    for (const { id } of await listed(projectId)) {
      expect(records((await take({ search: id }, other.projectId)).text)).toEqual([]);
    }
  });

  it.each([
    [{ zone: 'Mars/Olympus' }, 'zone'],
    [{ zone: "UTC'; drop table payments; --" }, 'zone'],
    [{ zone: 'FOO+3' }, 'zone'],
    [{ columns: [] }, 'columns'],
    [{ columns: ['password'] }, 'columns'],
    [{ format: 'xls' }, 'format'],
    [{ separator: ';' }, 'separator'],
    [{ amount_min: '1e3' }, 'amount_min'],
    [{ amount_min: '9', amount_max: '8' }, 'amount_min'],
    [{ currency: 'XXX' }, 'currency'],
    [{ status: 'paid' }, 'status'],
    [{ search: 'a\0b' }, 'search'],
  ])('is refused with a sentence for %j', async (body, param) => {
    const answer = await owner.browser.call({ method: 'POST', path: pathOf(projectId), body });
    expect(answer).toMatchObject({ status: 400, body: { error: { type: 'invalid_request_error', param } } });
  });

  it('is kept in the audit log: who took what', async () => {
    const member = await test.join('viewer');
    const body = { format: 'jsonl', status: 'pending', columns: ['id'] };
    await member.browser.call({ method: 'POST', path: pathOf(projectId), body });
    const row = await app.db
      .selectFrom('audit_log')
      .select(['action', 'actor_name', 'project_id', 'after'])
      .where('actor_id', '=', member.id)
      .where('action', '=', 'payment.export')
      .executeTakeFirstOrThrow();
    expect(row).toEqual({
      action: 'payment.export',
      actor_name: member.email,
      project_id: projectId,
      after: { mode: 'test', ...body },
    });
  });
});

describe('what merchants and customers wrote', () => {
  /** Whether a spreadsheet would run the cell. */
  const isFormula = (cell: string): boolean =>
    /^[^\S\t\r\n]*[=+\-@＝＋－＠\t\r\n]/.test(cell.replaceAll(/\p{Cf}|[^\P{Cc}\t\r\n]/gu, ''));

  it('never begins a formula, with whatever separator the file is read; all else is as it was', async () => {
    const { projectId } = await test.http.shop();
    const ids: string[] = [];
    for (let n = 0; n < 30; n += 1) {
      ids.unshift((await app.pay({ projectId, merchantOrderId: 'x', customerEmail: 'x', description: 'x' })).id);
      app.clock.advance(1_000);
    }
    const pieces = [
      '=',
      '+',
      '-',
      '@',
      '＝',
      '；',
      ',',
      ';',
      '\t',
      '\r',
      '\n',
      '"',
      "'",
      ' ',
      '1',
      'a',
      '\\',
      '\\.',
      '|',
      '()',
      '茶',
      // Blanks and characters that are not drawn, which spreadsheets pass over.
      '\f',
      '\v',
      '\u00a0',
      '\u0085',
      '\u2003',
      '\u2028',
      '\u3000',
      '\u200b',
      '\u200e',
      '\u2060',
      '\ufeff',
      '\u00ad',
      '\u0007',
    ];
    const text = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
    const written = fc.array(fc.tuple(text, text), { minLength: ids.length, maxLength: ids.length });
    const columns = ['order_id', 'description', 'currency'] as const;
    await fc.assert(
      fc.asyncProperty(written, fc.constantFrom('comma' as const, 'semicolon' as const), async (texts, separator) => {
        await sql`
          update payments p set merchant_order_id = t.one, description = t.other
          from unnest(${ids}::uuid[], ${texts.map(([one]) => one)}::text[], ${texts.map(([, other]) => other)}::text[])
            as t (id, one, other) where p.id = t.id`.execute(app.db);
        const file = (await take({ columns: [...columns], separator }, projectId)).text;
        const body = file.slice(file.indexOf('\n') + 1);
        for (const read of [',', ';', '\t']) {
          expect([read, body, parse(body, read).flat().filter(isFormula)]).toEqual([read, body, []]);
        }
        const rows = parse(body, separator === 'comma' ? ',' : ';');
        const bare = (cells: readonly string[]): readonly string[] => cells.map((cell) => cell.replaceAll("'", ''));
        expect(rows.map(bare)).toEqual(texts.map((cells) => bare([...cells, 'USD'])));
        const isPlain = (cells: readonly string[]): boolean =>
          cells.every((cell) => !/[=+\-@＝＋－＠\t]|^[^a-z\d茶]*[\r\n]/.test(cell));
        expect(rows).toEqual(texts.map((cells, index) => (isPlain(cells) ? [...cells, 'USD'] : rows[index])));
      }),
      { numRuns: 10 },
    );
  });

  it('is in JSON as it was written', async () => {
    const { projectId } = await test.http.shop();
    const written = '=cmd|\'/c calc\'!A1\t"\\n"\r\n\u0001\u0002 </script> 💶';
    await app.pay({ projectId, description: written, metadata: { note: written } });
    const { text } = await take({ format: 'jsonl', columns: ['description', 'metadata'] }, projectId);
    expect(JSON.parse(text)).toEqual({ description: written, metadata: { note: written } });
  });
});

describe('a large file', async () => {
  const server = test.http.build({
    side: 'live',
    dashboard: { app, allowed: null, origin: test.people.site.origin, behindProxy: false, seenSessions: new Set() },
    plugins: [dashboardRoutes(test.dashboard, null)],
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.server.address() as AddressInfo;
  afterAll(() => server.server.closeAllConnections());
  const COUNT = 40_000;
  let projectId = '';
  beforeAll(async () => {
    ({ projectId } = await test.http.shop());
    const { id } = await app.pay({ projectId });
    const { rows } = await sql<{ name: string }>`select attname as name from pg_attribute
      where attrelid = 'payments'::regclass and attnum > 0 and not attisdropped and attname not in ('id', 'description')`.execute(
      app.db,
    );
    const names = sql.join(rows.map(({ name }) => sql.ref(name)));
    await sql`insert into payments (id, description, ${names})
      select gen_random_uuid(), repeat('x', 1000), ${names} from payments, generate_series(1, ${COUNT}) where id = ${id}`.execute(
      app.db,
    );
  });

  const opened: AbortController[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) one.abort();
    await vi.waitUntil(async () => (await running()) === 0, WAIT);
  });
  const start = (browser: Browser = owner.browser, at = port) => {
    const leaving = new AbortController();
    opened.push(leaving);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return fetch(`http://127.0.0.1:${at}${pathOf(projectId)}`, {
      method: 'POST',
      headers: {
        cookie,
        'content-type': 'application/json',
        origin: test.people.site.origin,
        host: new URL(test.people.site.url).host,
        'sec-fetch-site': 'same-origin',
      },
      body: '{}',
      signal: leaving.signal,
    });
  };
  /** Exports under way in the database. */
  const running = async (): Promise<number> => {
    const { rows } = await sql<{ count: bigint }>`select count(*) from pg_locks
      where locktype = 'advisory' and classid = 7203612 and database = (select oid from pg_database where datname = current_database())`.execute(
      app.db,
    );
    return Number(rows[0]?.count);
  };
  const drain = async (answer: Response): Promise<number> => {
    let lines = 0;
    for await (const piece of answer.body ?? []) for (const byte of piece) if (byte === 10) lines += 1;
    return lines;
  };

  it('comes whole', async () => {
    expect(await drain(await start())).toBe(COUNT + 2);
    await vi.waitUntil(async () => (await running()) === 0, WAIT);
  });

  it('is one of two at once; a third is told to come again, and gets in once one has left', async () => {
    const [second, last] = [await test.join('viewer'), await test.join('admin')];
    const [one, two] = await Promise.all([start(), start(second.browser)]);
    expect([one.status, two.status]).toEqual([200, 200]);
    const third = await start(last.browser);
    expect(third.status).toBe(503);
    expect(third.headers.get('retry-after')).toBe('10');
    expect(await third.text()).toContain('Other exports are already running.');
    opened[0]?.abort();
    await vi.waitUntil(async () => (await running()) === 1, WAIT);
    expect((await start(last.browser)).status).toBe(200);
  });

  it('leaves a place for owners and admins, whoever else takes one and reads nothing', async () => {
    const [slow, slower] = [await test.join('viewer'), await test.join('support')];
    const first = await start(slow.browser);
    const second = await start(slower.browser);
    const admins = await start();
    expect([first.status, second.status, admins.status]).toEqual([200, 503, 200]);
    opened[0]?.abort();
    await vi.waitUntil(async () => (await running()) === 1, WAIT);
    expect((await start(slower.browser)).status).toBe(200);
  });

  it('is the only one of its person, who leaves the other place to others', async () => {
    const other = await test.join('viewer');
    const first = await start();
    const again = await start();
    expect([again.status, again.headers.get('retry-after')]).toEqual([429, '10']);
    expect(await again.text()).toContain('Another of your exports is still running.');
    const others = await start(other.browser);
    // An answer that nothing refers to any more would be given up, and with it its place.
    expect([first.status, others.status]).toEqual([200, 200]);
  });

  it.each([
    ['its reader takes nothing', { unreadMs: 1 }],
    ['its time is over', { endMs: 1 }],
  ])('ends when %s, and leaves its place', async (_name, limits) => {
    const exports = { ...test.dashboard.exports, ...limits };
    const hasty = test.http.build({
      side: 'live',
      dashboard: { app, allowed: null, origin: test.people.site.origin, behindProxy: false, seenSessions: new Set() },
      plugins: [dashboardRoutes({ ...test.dashboard, exports }, null)],
    });
    await hasty.listen({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => hasty.server.closeAllConnections());
    const answer = await start(owner.browser, (hasty.server.address() as AddressInfo).port);
    expect(answer.status).toBe(200);
    await vi.waitUntil(async () => (await running()) === 0, WAIT);
    await expect(drain(answer)).rejects.toThrow('terminated');
  });

  it('is waited for as long as its reader takes 64 KiB a second, and a minute more', () => {
    const steady = patienceWith(60_000);
    for (let second = 0; second < 3_600; second += 1) steady.took(65_536, 1_000);
    expect(steady.leftMs()).toBe(60_000);
    const slow = patienceWith(60_000);
    for (let second = 0; second < 80; second += 1) slow.took(20_480, 1_000);
    expect(slow.leftMs()).toBe(5_000);
    for (let second = 0; second < 8; second += 1) slow.took(20_480, 1_000);
    expect(slow.leftMs()).toBe(0);
  });

  it('stops in the database when its reader goes, and nobody is troubled', async () => {
    const before = test.http.logged.length;
    await start();
    expect(await running()).toBe(1);
    opened[0]?.abort();
    await vi.waitUntil(async () => (await running()) === 0, WAIT);
    expect(test.http.logged.slice(before)).toEqual([]);
  });

  it('keeps no place when its reader goes, at whatever moment, and the next one gets in', async () => {
    const before = test.http.logged.length;
    for (let ticks = 0; ticks < 48; ticks += 3) {
      const answer = start().catch(() => null);
      // A few turns of the event loop more each time, from before the request is read to after the first rows.
      for (let tick = 0; tick < ticks; tick += 1) await new Promise((resolve) => setImmediate(resolve));
      opened.pop()?.abort();
      await answer;
    }
    await vi.waitUntil(async () => (await running()) === 0, WAIT);
    const other = await test.join('viewer');
    const [one, two] = await Promise.all([start(), start(other.browser)]);
    expect([one.status, two.status]).toEqual([200, 200]);
    expect(await Promise.all([drain(one), drain(two)])).toEqual([COUNT + 2, COUNT + 2]);
    // Requests of clients that left before a slot was free are answered, and nobody reads the answer.
    const problems = test.http.logged.slice(before).filter((line) => !line.includes('answered 503'));
    expect(problems).toEqual([]);
  });

  it('stops when its reader is signed out', async () => {
    const member = await test.join('viewer');
    const answer = await start(member.browser);
    expect(answer.status).toBe(200);
    await member.browser.do('POST /dashboard/api/sign-out');
    await vi.waitUntil(async () => (await running()) === 0, WAIT);
    await expect(drain(answer)).rejects.toThrow('terminated');
  });

  it('that breaks off is no whole file to its reader, and is reported', async () => {
    const answer = await start();
    await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = 7203612`.execute(
      app.db,
    );
    await expect(drain(answer)).rejects.toThrow('terminated');
    await vi.waitUntil(() => test.http.logged.some((line) => line.includes('exports of the dashboard')), WAIT);
    onTestFinished(() => void (test.http.logged as string[]).splice(0));
  });
});
