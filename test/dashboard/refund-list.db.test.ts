import * as fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { REFUND_STAGES } from '../../src/domain/refund-stage.ts';
import type { PaymentView } from '../../src/http/dashboard/payments/contract.ts';
import type { ListedRefundView } from '../../src/http/dashboard/refunds/contract.ts';
import { guarded, guardedText } from '../../src/store/reports/export-columns.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import { actsTest } from './acts.fixture.ts';
import { nextHash, REFUND_ADDRESS, saveCursor, saveRefund } from './refund-list.fixture.ts';

const { test, app, owner } = await actsTest();
const viewer = await test.join('viewer');
const support = await test.join('support');

const base = (projectId = app.projectId, mode = 'live') => `/dashboard/api/projects/${projectId}/${mode}/refunds`;
interface Listed {
  readonly data: readonly ListedRefundView[];
  readonly next: string | null;
}

async function list(query: object = {}, path = base(), browser = owner.browser): Promise<Listed> {
  const given = new URLSearchParams(
    Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
  );
  const answer = await browser.call<Listed>({ path: `${path}?${String(given)}` });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body;
}

/** Every page of a list. */
async function whole(query: object, path = base()): Promise<readonly ListedRefundView[]> {
  const rows: ListedRefundView[] = [];
  let next: string | null = null;
  do {
    const page: Listed = await list({ ...query, limit: 7, ...(next !== null && { after: next }) }, path);
    rows.push(...page.data);
    ({ next } = page);
  } while (next !== null);
  return rows;
}

const idsOf = (rows: readonly ListedRefundView[]) => rows.map(({ id }) => id);
const payLive = (fields: object = {}) => app.pay({ mode: 'live', ...fields });

describe('the refunds of a project', () => {
  const TOKENS = [
    { asset: 'BTC', network: 'bitcoin', decimals: 8 },
    { asset: 'USDT', network: 'ethereum', decimals: 6 },
    { asset: 'USDT', network: 'polygon', decimals: 6 },
    { asset: 'LTC', network: 'litecoin', decimals: 8 },
  ] as const;
  let projectId = '';
  let all: readonly ListedRefundView[] = [];

  beforeAll(async () => {
    ({ projectId } = await test.http.shop());
    const payment = await payLive({ projectId });
    await saveCursor(app);
    for (let n = 0; n < 48; n += 1) {
      const stage = REFUND_STAGES[n % REFUND_STAGES.length] ?? 'failed';
      // The stages of the chain were saved in Bitcoin.
      const token = stage === 'seen' || stage === 'reorged' ? TOKENS[0] : TOKENS[Math.floor(n / 6) % 4];
      await saveRefund(app, payment, stage, { ...token, isGone: n % 12 < 6 });
      if (n % 5 === 0) app.clock.advance(3_600_000);
    }
    all = (await list({ limit: 100 }, base(projectId))).data;
  });

  it('come newest first and page by page, each once', async () => {
    expect(all.length).toBe(48);
    expect(idsOf(all)).toEqual(idsOf(all).toSorted().toReversed());
    expect(await whole({}, base(projectId))).toEqual(all);
    expect((await list({ limit: 48 }, base(projectId))).next).toBeNull();
  });

  it('are narrowed by every filter, and by all of them together, to exactly those that meet them', async () => {
    const orNone = <Value>(values: readonly Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
    const times = [...new Set(all.map((one) => one.created_at))];
    await fc.assert(
      fc.asyncProperty(
        orNone(REFUND_STAGES),
        orNone(['BTC', 'USDT', 'LTC', 'ETH']),
        orNone(['bitcoin', 'ethereum', 'polygon', 'litecoin', 'base']),
        orNone(times),
        async (stage, asset, network, from) => {
          const wanted = { stage, asset, network, created_after: from };
          const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
          const expected = all.filter(
            (one) =>
              (stage ?? one.stage) === one.stage &&
              (asset ?? one.asset) === one.asset &&
              (network ?? one.network) === one.network &&
              (from === undefined || one.created_at > from),
          );
          expect(idsOf(await whole(given, base(projectId)))).toEqual(idsOf(expected));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('say what the chain shows of each: confirmations, what a reorganisation removed, and until when it may be paid', () => {
    const inStage = (stage: string) => all.filter((one) => one.stage === stage);
    expect(inStage('seen').map(({ payout }) => payout?.confirmations)).toEqual(expect.arrayContaining([3, 0]));
    expect(new Set(inStage('reorged').map(({ payout }) => payout?.state))).toEqual(new Set(['waiting', 'dropped']));
    expect(inStage('to_sign').every(({ payout, due_at }) => payout === null && due_at !== null)).toBe(true);
    expect(
      inStage('completed').every(({ transaction_hash, due_at }) => transaction_hash !== null && due_at === null),
    ).toBe(true);
    const joinable = new Set(all.filter((one) => one.is_joinable).map(({ network }) => network));
    expect(joinable).toEqual(new Set(['bitcoin', 'litecoin']));
  });

  it('offer to each role what it may do: viewers no link of the customer, support no signing, nobody to undo what is seen', async () => {
    const canOf = async (browser: typeof owner.browser, stage: string) => {
      const { data } = await list({ stage, limit: 1 }, base(projectId), browser);
      return { ...data[0]?.can, hasLink: typeof data[0]?.claim_url === 'string' };
    };
    expect(await canOf(owner.browser, 'to_sign')).toEqual({ sign: true, cancel: true, hasLink: false });
    // No event of its creation shows that the customer entered the address.
    expect(await canOf(support.browser, 'to_sign')).toEqual({ sign: false, cancel: false, hasLink: false });
    expect(await canOf(owner.browser, 'seen')).toEqual({ sign: false, cancel: false, hasLink: false });
    for (const { can, payout } of all.filter(({ stage }) => stage === 'reorged')) {
      expect(can.sign).toBe(payout?.state === 'dropped');
    }
    expect(await canOf(support.browser, 'waiting_for_address')).toEqual({ sign: false, cancel: true, hasLink: true });
    expect(await canOf(viewer.browser, 'waiting_for_address')).toEqual({ sign: false, cancel: false, hasLink: false });
  });

  it('can be signed and cancelled on the page of their payment where they can be in the list, and nowhere else', async () => {
    const pending = all.filter(({ status }) => status === 'pending');
    expect(new Set(pending.map(({ can }) => can.sign))).toEqual(new Set([true, false]));
    for (const { id, can, payment } of pending) {
      const path = `/dashboard/api/projects/${projectId}/live/payments/${payment.id}`;
      const { body } = await owner.browser.call<PaymentView>({ path });
      expect([id, body.refunds.find((refund) => refund.id === id)?.can]).toEqual([id, can]);
    }
  });

  it('are not those of another project or mode, not even one by its id', async () => {
    const { projectId: other } = await test.http.shop();
    expect((await list({}, base(other))).data).toEqual([]);
    expect((await list({}, base(projectId, 'test'))).data).toEqual([]);
    const [one] = all;
    const read = (path: string) => owner.browser.call({ path: `${path}/${one?.id}` });
    expect(await read(base(projectId))).toMatchObject({ status: 200, body: { id: one?.id, payment: one?.payment } });
    for (const path of [base(other), base(projectId, 'test')]) expect((await read(path)).status).toBe(404);
    expect((await owner.browser.call({ path: `${base(projectId)}/nonsense` })).status).toBe(404);
    expect((await list({ search: one?.id }, base(other))).data).toEqual([]);
  });

  it.each([
    ['stage', 'paid'],
    ['asset', 'DOGE'],
    ['network', 'tron'],
    ['created_after', 'yesterday'],
    ['after', 'x'],
    ['limit', '0'],
    ['search', 'x'.repeat(256)],
    ['status', 'failed'],
  ])('refuse %s=%s with a sentence that names it', async (name, value) => {
    const answer = await owner.browser.call({ path: `${base()}?${name}=${value}` });
    expect(answer).toMatchObject({ status: 400, body: { error: { param: name } } });
  });
});

describe('a refund is found', async () => {
  const payment = await payLive({ merchantOrderId: 'FIND-1', customerEmail: 'Ann@Example.com' });
  const other = await payLive({ api: 'transaction', merchantOrderId: null });
  const hash = nextHash();
  const paidBy = nextHash();
  const address = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3';
  const first = await saveRefund(app, payment, 'seen', { hash, address });
  const second = await saveRefund(app, payment, 'completed', { hash: paidBy });
  const third = await saveRefund(app, other, 'to_sign');
  it.each([
    ['its own id', first, [first]],
    ['its payment’s id', publicPaymentId(payment), [second, first]],
    ['a transaction’s id', publicPaymentId(other), [third]],
    ['the order id of its payment', ' FIND-1 ', [second, first]],
    ['the number of its payment', String(other.transactionNumber), [third]],
    ['the customer’s e-mail', 'ann@example.com', [second, first]],
    ['its address', address, [first]],
    ['its address in capitals', address.toUpperCase(), [first]],
    ['the transaction that was seen', hash, [first]],
    ['the transaction that paid it', `https://mempool.space/tx/${paidBy}`, [second]],
    ['the beginning of its order id', 'FIND', [second, first]],
    ['nothing else', 'IND-1', []],
  ])('by %s', async (_what, search, expected) => {
    expect(idsOf((await list({ search })).data)).toEqual(expected);
  });

  it('together with the other filters', async () => {
    expect(idsOf((await list({ search: 'FIND-1', stage: 'completed' })).data)).toEqual([second]);
    expect((await list({ search: REFUND_ADDRESS, stage: 'waiting_for_address' })).data).toEqual([]);
  });
});

const SIGNS = ['=', '+', '-', '@', '＝', '⁻', 'a', '1', ' ', ',', ';', '"', '\t', '\r', '\n', '\u00a0', '\u200b'];

describe('a file of refunds', () => {
  const take = async (body: object, browser = viewer.browser) =>
    browser.call({ method: 'POST', path: `${base()}/export`, body });

  it('has what the list has under the same filters, amounts exact, and is in the log with who took it', async () => {
    const payment = await payLive({ merchantOrderId: '=1+1' });
    await saveRefund(app, payment, 'to_sign', { reason: 'One, "two"\n@three', units: 1n });
    // One after the other, because a person has one export at a time.
    const lines = await take({ format: 'jsonl', stage: 'to_sign' });
    const csv = await take({ stage: 'to_sign' });
    const semicolons = await take({ stage: 'to_sign', separator: 'semicolon' });
    const records = lines.text
      .trim()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line));
    const rows = await whole({ stage: 'to_sign' });
    expect(records.map(({ id, stage, coin_amount, payment: of }) => [id, stage, coin_amount, of])).toEqual(
      rows.map((row) => [row.id, row.stage, row.crypto_amount, row.payment.id]),
    );
    expect(records[0]).toMatchObject({ coin_amount: '0.00000001', reason: 'One, "two"\n@three', order_id: '=1+1' });
    expect(csv.headers).toMatchObject({
      'content-disposition': expect.stringMatching(/^attachment; filename="refunds-live-\d{4}-\d{2}-\d{2}\.csv"$/),
    });
    expect(csv.text).toContain(`"One, ""two""\n'@three"`);
    expect(csv.text).toContain(",'=1+1,");
    expect(csv.text.split('\n')[0]).toMatch(/^id,created \(UTC\),state,payment,order id,coin amount,/);
    expect(semicolons.text.split('\n')[0]).toMatch(/^\ufeffid;created/);
    // The cells before the reason have neither commas nor quotes.
    const [heads = [], cells = []] = csv.text.split('\n').map((line) => line.split(','));
    expect(Object.fromEntries(heads.map((head, at) => [head, cells[at]]))).toMatchObject({
      state: 'to_sign',
      payment: records[0]?.['payment'],
      'order id': "'=1+1",
      'coin amount': '0.00000001',
      coin: records[0]?.['coin'],
      currency: records[0]?.['currency'],
      address: records[0]?.['address'],
    });
    const entry = await app.db
      .selectFrom('audit_log')
      .selectAll()
      .where('action', '=', 'refund.export')
      .executeTakeFirst();
    expect(entry).toMatchObject({ actor_id: viewer.id, after: { mode: 'live', stage: 'to_sign' } });
  });

  it('guards its texts against spreadsheets as the files that the database writes', async () => {
    const cell = fc.string({ unit: fc.constantFrom(...SIGNS), maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(cell, fc.constantFrom(',' as const, ';' as const), async (text, separator) => {
        const writing = { format: 'csv', separator, zone: 'UTC' } as const;
        const { rows } = await sql<{ cell: string }>`select ${guarded(sql`${text}::text`, writing)} as cell`.execute(
          app.db,
        );
        expect(guardedText(text, separator)).toBe(rows[0]?.cell);
      }),
      { numRuns: 300 },
    );
  });
});
