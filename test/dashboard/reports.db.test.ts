import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { simulatePayment } from '../../src/app/payments/simulate-payment.ts';
import { keepRates } from '../../src/app/dashboard/keep-currency-rates.ts';
import { createRefund } from '../../src/app/refunds/create-refund.ts';
import { runDueRefunds } from '../../src/app/refunds/end-refunds.ts';
import type { ReportExportRequest, ReportPreview, StatementRecord } from '../../src/http/dashboard/reports/contract.ts';
import { allTokens } from '../../src/domain/asset.ts';
import { untracedHash } from '../../src/domain/payment.ts';
import { WAIT } from '../deadline.ts';
import { dashboardTest, type Browser } from '../dashboard.ts';

const test = await dashboardTest({ exports: { recheckMs: 20 } });
const { app } = test.http;
const owner = await test.join('owner');
afterAll(() => test.http.close());

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const ETHER = { asset: 'ETH', network: 'ethereum' } as const;
const DAYS = { from: '2026-06-01', to: '2026-06-30', zone: 'UTC' } as const;

function call(
  projectId: string,
  path: string,
  body: object,
  { browser }: { readonly browser: Browser } = owner,
  mode = 'test',
) {
  return browser.call({ method: 'POST', path: `/dashboard/api/projects/${projectId}/${mode}/reports/${path}`, body });
}

async function take(
  projectId: string,
  body: ReportExportRequest,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const answer = await call(projectId, 'export', { ...DAYS, ...body, format: 'jsonl' });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function preview(projectId: string, query: string): Promise<ReportPreview> {
  const path = `/dashboard/api/projects/${projectId}/test/reports?${query}`;
  const { body, status, text } = await owner.browser.call<ReportPreview>({ path });
  if (status !== 200) throw new Error(text);
  return body;
}

/** A shop with an order of 100 JPY that was paid, and one of 30 EUR that was paid and refunded in part. */
async function shop(reference = 'A-1') {
  const { projectId } = await test.http.shop();
  app.clock.set(Date.parse('2026-06-15T12:00:00Z'));
  const euro = await app.pay({
    projectId,
    amountMinor: 3_000n,
    currency: 'EUR',
    token: ETHER,
    merchantOrderId: reference,
  });
  await simulatePayment(app, { id: euro.id }, 'paid');
  app.clock.advance(60_000);
  const yen = await app.pay({ projectId, amountMinor: 100n, currency: 'JPY', token: ETHER });
  await simulatePayment(app, { id: yen.id }, 'paid');
  const wanted = { amountMinor: 1_000n };
  const request = { projectId, mode: 'test', api: 'order', paymentId: euro.id, wanted, address: ADDRESS } as const;
  await createRefund(app, { ...request, reason: '=cmd|calc' }, null);
  app.clock.advance(11_000);
  await runDueRefunds(app, 10);
  return { projectId, euro, yen };
}

describe('a report', () => {
  it('of transfers has every one of the period with its exact value when it came, the oldest first', async () => {
    const { projectId } = await shop();
    const rows = await take(projectId, { report: 'transfers' });
    expect(
      rows.map(({ coin, network, coin_amount, receipt_value, currency, receipt_usd, state, received }) => ({
        coin,
        network,
        coin_amount,
        receipt_value,
        currency,
        receipt_usd,
        state,
        received,
      })),
    ).toEqual([
      {
        coin: 'ETH',
        network: 'ethereum',
        coin_amount: '0.011',
        receipt_value: '30.00',
        currency: 'EUR',
        receipt_usd: '33.00',
        state: 'confirmed',
        received: '2026-06-15T12:00:00.000Z',
      },
      {
        coin: 'ETH',
        network: 'ethereum',
        coin_amount: '0.00021667',
        receipt_value: '100',
        currency: 'JPY',
        receipt_usd: '0.65',
        state: 'confirmed',
        received: '2026-06-15T12:01:00.000Z',
      },
    ]);
    expect(rows[0]?.['payment']).toMatch(/^ord_/);
    const { totals } = await preview(projectId, 'report=transfers&from=2026-06-01&to=2026-06-30');
    expect(totals).toEqual([
      { kind: null, coin: 'ETH', network: 'ethereum', rows: 2, amount: '0.01121667', value: '33.65', unknown: 0 },
    ]);
  });

  it('says unknown where nobody kept a value, in a word or as null, and never adds it up', async () => {
    const { projectId, euro } = await shop();
    await app.db
      .updateTable('transfers')
      .set({ receipt_minor: null, receipt_usd_cents: null })
      .where('payment_id', '=', euro.id)
      .execute();
    const csv = await call(projectId, 'export', { ...DAYS, report: 'transfers', coin: 'ETH', network: 'ethereum' });
    expect(csv.text.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(
        /^payment,order id,received \(UTC\),block time \(UTC\),.*,value at receipt,currency,value at receipt in usd,/,
      ),
      expect.stringContaining(',0.011,unknown,EUR,unknown,'),
    ]);
    const [first, second] = await take(projectId, { report: 'payments' });
    expect([first, second].map((row) => [row?.['currency'], row?.['receipt_value'], row?.['receipt_usd']])).toEqual([
      ['JPY', '100', '0.65'],
      ['EUR', null, null],
    ]);
    const { totals } = await preview(projectId, 'report=transfers&from=2026-06-01&to=2026-06-30');
    expect(totals).toEqual([expect.objectContaining({ rows: 2, value: '0.65', unknown: 1 })]);
  });

  it('of refunds has their value when they were paid, and what people wrote is no formula', async () => {
    const { projectId } = await shop('=HYPERLINK("http://x")');
    const [refund] = await take(projectId, { report: 'refunds' });
    expect(refund).toMatchObject({
      id: expect.stringMatching(/^re_/),
      payment: expect.stringMatching(/^ord_/),
      status: 'completed',
      amount: '10.00',
      currency: 'EUR',
      disposal_value: '10.00',
      disposal_usd: '11.00',
      reason: '=cmd|calc',
    });
    const csv = (await call(projectId, 'export', { ...DAYS, report: 'refunds', separator: 'semicolon' })).text;
    expect(csv).toContain("'=cmd|calc");
    expect(csv).toContain(`"'=HYPERLINK(""http://x"")"`);
  });

  it('of refunds says nothing of a value where nothing was paid, and adds up what was', async () => {
    const { projectId, yen } = await shop();
    const request = { projectId, mode: 'test', api: 'order', paymentId: yen.id, address: ADDRESS } as const;
    const refund = (amountMinor: bigint, reason: string | null) =>
      createRefund(app, { ...request, wanted: { amountMinor }, reason }, null);
    await refund(40n, 'test_failure');
    app.clock.advance(11_000);
    await runDueRefunds(app, 10);
    await refund(50n, null);
    const rows = await take(projectId, { report: 'refunds' });
    expect(rows.map((row) => [row['status'], row['disposal_value'], row['disposal_usd']])).toEqual([
      ['completed', '10.00', '11.00'],
      ['failed', null, null],
      ['pending', null, null],
    ]);
    const csv = (await call(projectId, 'export', { ...DAYS, report: 'refunds' })).text;
    expect(csv).not.toContain('unknown');
    const totals = async () => (await preview(projectId, 'report=refunds&from=2026-06-01&to=2026-06-30')).totals;
    expect(await totals()).toEqual([
      expect.objectContaining({ rows: 3, amount: '0.00366666', value: '11', unknown: 0 }),
    ]);
    const refunded = async () => (await take(projectId, { report: 'payments' })).map((row) => row['refunded']);
    expect(await refunded()).toEqual(['0.00010833', '0.00366666']);
    // One that was paid after all is one of unknown value, and takes the payment's money.
    await sql`insert into refund_payouts (network, transaction_hash, asset, output_index, refund_id, block_height)
      select network, '0xpaid', asset, 0, id, 1 from refunds where project_id = ${projectId} and status = 'failed'`.execute(
      app.db,
    );
    expect(await totals()).toEqual([
      expect.objectContaining({ rows: 3, amount: '0.00375332', value: '11', unknown: 1 }),
    ]);
    expect((await call(projectId, 'export', { ...DAYS, report: 'refunds' })).text).toContain(',JPY,unknown,unknown,');
    const paid = await take(projectId, { report: 'refunds' });
    expect(paid.find((row) => row['status'] === 'failed')?.['transaction_hash']).toBe('0xpaid');
    expect(await refunded()).toEqual(['0.00019499', '0.00366666']);
  });

  it('has the exact amount of a coin that is not seen here any more, and no hash where no node has shown one', async () => {
    const { projectId, euro } = await shop();
    const unseen = allTokens().find(
      ({ asset, network }) =>
        !app.railFor('test').seenTokens.some((seen) => seen.asset === asset && seen.network === network),
    );
    if (unseen === undefined) throw new Error('the sandbox sees every token');
    await sql`update transfers set asset = ${unseen.asset}, network = ${unseen.network}, transaction_hash = ${untracedHash('0xaa@0xbb')},
      amount_units = ${15n * 10n ** BigInt(unseen.decimals - 1)} where payment_id = ${euro.id}`.execute(app.db);
    const [row] = await take(projectId, { report: 'transfers' });
    expect([row?.['coin'], row?.['coin_amount'], row?.['transaction_hash']]).toEqual([unseen.asset, '1.5', null]);
    const { totals } = await preview(projectId, 'report=transfers&from=2026-06-01&to=2026-06-30');
    expect(totals).toContainEqual(expect.objectContaining({ coin: unseen.asset, amount: '1.5' }));
    expect((await made(projectId)).tokens).toContainEqual(
      expect.objectContaining({ coin: unseen.asset, unquoted: '1.5', unexplained: '0' }),
    );
  });

  it('adds up two previews at a time for a project, however many are asked for', async () => {
    const { projectId } = await shop();
    const [blocking, watching] = [await app.database.connect(), await app.database.connect()];
    await blocking.query('begin; lock table transfers in access exclusive mode');
    const path = `/dashboard/api/projects/${projectId}/test/reports?report=transfers`;
    const asked = Array.from({ length: 4 }, () => owner.browser.call<ReportPreview>({ path }));
    const waiting = async (): Promise<number> =>
      (
        await watching.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%receipt_usd_cents%'`,
        )
      ).rowCount ?? 0;
    await expect.poll(waiting, WAIT).toBeGreaterThanOrEqual(2);
    // The others have had the time for it.
    await owner.browser.call({ path: `/dashboard/api/projects/${projectId}/audit` });
    // One that took too long has made room for the next.
    expect(await waiting()).toBeLessThanOrEqual(2);
    await blocking.query('rollback');
    await Promise.all([blocking.end(), watching.end()]);
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('is of the days of its zone, also in the month in which clocks are changed', async () => {
    const { projectId } = await test.http.shop();
    for (const at of ['2026-09-30T21:59:59Z', '2026-09-30T22:00:00Z', '2026-10-31T22:59:59Z', '2026-10-31T23:00:00Z']) {
      app.clock.set(Date.parse(at));
      const { id } = await app.pay({ projectId, token: ETHER });
      await simulatePayment(app, { id }, 'paid');
    }
    // Within the lifetime of the owner's session.
    app.clock.set(Date.parse('2026-06-15T12:30:00Z'));
    const october = { from: '2026-10-01', to: '2026-10-31', zone: 'Europe/Berlin' };
    for (const report of ['transfers', 'payments'] as const) {
      expect(await take(projectId, { report, ...october })).toHaveLength(2);
    }
    const shown = await preview(projectId, 'report=payments&from=2026-10-01&to=2026-10-31&zone=Europe/Berlin');
    expect(shown).toMatchObject({ from_day: '2026-10-01', until: '2026-10-31T23:00:00.000Z' });
    expect(shown.totals).toEqual([expect.objectContaining({ rows: 2 })]);
  });

  it('of sweeps has what left each deposit, and the fee of its transaction once', async () => {
    const { projectId, euro, yen } = await shop();
    await app.db.updateTable('payments').set({ mode: 'live' }).where('project_id', '=', projectId).execute();
    await sql`insert into sweeps (id, project_id, network, purpose, source, state, treasury, transaction_hash, created_at, mined_at, fee_units, fee_usd_cents)
      values (gen_random_uuid(), ${projectId}, 'ethereum', 'sweep', 'chain', 'mined', '0xTT', '0xab', now(), '2026-06-16T00:00:00Z', 21000000000000, 6)`.execute(
      app.db,
    );
    for (const [at, { id }] of [euro, yen].entries()) {
      await sql`insert into sweep_transfers (sweep_id, project_id, network, deposit_address, token, payment_id, address_index, asset, state, units, transaction_hash, mined_at, usd_cents)
        select id, project_id, network, ${`0x${at}`}, '', ${id}, ${at}, 'ETH', 'mined', 1000000000000000, '0xab', mined_at, ${at === 0 ? 300n : null} from sweeps where project_id = ${projectId}`.execute(
        app.db,
      );
    }
    const answer = await call(projectId, 'export', { ...DAYS, report: 'sweeps', format: 'jsonl' }, owner, 'live');
    const rows = answer.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(
      rows
        .map((row) => [row['coin_amount'], row['disposal_usd'], row['fee']])
        .toSorted((a, b) => String(a[1]).localeCompare(String(b[1]))),
    ).toEqual([
      ['0.001', '3.00', '0.000021'],
      ['0.001', null, null],
    ]);
    const statement = await made(projectId, owner, 'live');
    expect(statement.tokens[0]).toMatchObject({ swept: '0.002', sweeps: 2, value_swept: { amount: '3', unknown: 1 } });
    expect(statement.fees).toEqual([
      { network: 'ethereum', coin: 'ETH', amount: '0.000021', value: '0.06', sweeps: 1, unknown: 0 },
    ]);
    await app.db.updateTable('sweeps').set({ fee_usd_cents: null }).where('project_id', '=', projectId).execute();
    expect((await made(projectId, owner, 'live')).fees).toMatchObject([{ amount: '0.000021', value: '0', unknown: 1 }]);
    const csv = await call(projectId, 'export', { ...DAYS, report: 'sweeps' }, owner, 'live');
    const [head, ...lines] = csv.text
      .trim()
      .split(/\r?\n/)
      .map((line) => line.split(','));
    const fee = head?.indexOf('fee in usd') ?? -1;
    expect(new Set(lines.map((line) => line[fee]))).toEqual(new Set(['', 'unknown']));
    // A chain's own coin that is not accepted lay on a deposit too.
    await sql`update sweep_transfers set network = 'bsc', asset = null where project_id = ${projectId} and deposit_address = '0x1'`.execute(
      app.db,
    );
    await sql`update sweeps set network = 'bsc' where project_id = ${projectId}`.execute(app.db);
    const own = await call(projectId, 'export', { ...DAYS, report: 'sweeps', format: 'jsonl' }, owner, 'live');
    expect(own.text).toMatch(/"coin"\s*:\s*"BNB".*"coin_amount"\s*:\s*"0\.001"/);
    const sum = `/dashboard/api/projects/${projectId}/live/reports?report=sweeps&from=${DAYS.from}&to=${DAYS.to}`;
    const { totals } = (await owner.browser.call<ReportPreview>({ path: sum })).body;
    expect(totals?.find(({ network }) => network === 'bsc')).toMatchObject({ coin: 'BNB', amount: '0.001', rows: 1 });
    expect((await made(projectId, owner, 'live')).fees).toMatchObject([{ network: 'bsc', coin: 'BNB' }]);
    const viewer = await test.join('viewer', projectId);
    const refused = await call(projectId, 'export', { ...DAYS, report: 'sweeps' }, viewer, 'live');
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('may not see wallets or sweeps')]);
    expect(await made(projectId, viewer, 'live')).toMatchObject({ fees: [], tokens: [{ swept: '0', deposits: null }] });
  });

  it('is refused with the field, the rule and the way out', async () => {
    const { projectId } = await test.http.shop();
    const refused = async (body: object) => (await call(projectId, 'export', { report: 'transfers', ...body })).text;
    expect(await refused({ zone: '+01:00' })).toContain('zone must be the name of a time zone such as Europe/Berlin');
    expect(await refused({ from: '2026-06-01' })).toContain('given together, but to is missing');
    expect(await refused({ from: '2026-02-30', to: '2026-03-01' })).toContain('from must be a day such as 2026-01-31');
    expect(await refused({ from: '2026-03-02', to: '2026-03-01' })).toContain('must not be before the first day');
    expect(await refused({ ...DAYS, period: 'this_year' })).toContain('Give either period, or from and to');
    expect(await refused({ coin: 'BTC' })).toContain('given together, but network is missing');
    expect(await refused({ coin: 'BTC', network: 'base' })).toContain('There is no BTC on base');
    expect(await refused({ project: 'other' })).toContain('There is no field project here');
  });

  it('is kept in the audit log with what was asked for', async () => {
    const { projectId } = await shop();
    await take(projectId, { report: 'refunds' });
    await made(projectId);
    const rows = await app.db
      .selectFrom('audit_log')
      .select(['action', 'after', 'actor_id'])
      .where('project_id', '=', projectId)
      .where('action', 'like', 'report.%')
      .orderBy('action')
      .execute();
    expect(rows).toEqual([
      {
        action: 'report.export',
        actor_id: owner.id,
        after: { mode: 'test', ...DAYS, report: 'refunds', format: 'jsonl' },
      },
      { action: 'report.statement', actor_id: owner.id, after: { mode: 'test', ...DAYS } },
    ]);
  });
});

async function made(
  projectId: string,
  who: { readonly browser: Browser } = owner,
  mode = 'test',
): Promise<StatementRecord> {
  const { text } = await call(projectId, 'statement', DAYS, who, mode);
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.slice(0, -1)).toEqual(['transfers', 'payments', 'refunds', 'deposits'].map((step) => ({ step })));
  return lines.at(-1)?.['statement'] as StatementRecord;
}

describe('a statement', () => {
  it('says how far it is, and then what the money of the period came to', async () => {
    const { projectId } = await shop();
    const statement = await made(projectId);
    expect(statement).toMatchObject({
      from_day: '2026-06-01',
      to_day: '2026-06-30',
      until: '2026-07-01T00:00:00.000Z',
      made_at: new Date(app.clock()).toISOString(),
      verdict: 'balanced',
      receipts: [
        { currency: 'EUR', amount: '30', count: 1, unknown: 0 },
        { currency: 'JPY', amount: '100', count: 1, unknown: 0 },
      ],
      refunds: [{ currency: 'EUR', amount: '10', count: 1, unknown: 0 }],
    });
    expect(statement.tokens).toEqual([
      expect.objectContaining({
        coin: 'ETH',
        opening: '0',
        received: '0.01121667',
        applied: '0.01121667',
        excess: '0',
        refunded: '0.00366666',
        closing: '0.00755001',
        unexplained: '0',
        value_at_receipt: { amount: '33.65', unknown: 0 },
      }),
    ]);
  });

  it('and reports are in the project’s currency, at the rate of the hour, and count what has none', async () => {
    const { projectId } = await shop();
    await app.db.updateTable('projects').set({ default_currency: 'EUR' }).where('id', '=', projectId).execute();
    // The order of 30 EUR and its refund of 10 are in it; the 100 JPY are not, without a rate.
    await app.db.deleteFrom('currency_rates').execute();
    const blind = await made(projectId);
    expect(blind.currency).toBe('EUR');
    expect(blind.tokens[0]?.value_at_receipt).toEqual({ amount: '30', unknown: 1 });
    expect(blind.tokens[0]?.value_at_disposal).toEqual({ amount: '10', unknown: 0 });
    const period = `from=${DAYS.from}&to=${DAYS.to}`;
    const one = { coin: 'ETH', rows: 2, value: '30', unknown: 1 };
    expect(await preview(projectId, `report=transfers&${period}`)).toMatchObject({ currency: 'EUR', totals: [one] });

    await keepRates(app);
    // 0.65 USD at 1.10.
    expect((await made(projectId)).tokens[0]?.value_at_receipt).toEqual({ amount: '30.59', unknown: 0 });
    for (const report of ['transfers', 'payments']) {
      const { totals } = await preview(projectId, `report=${report}&${period}`);
      expect(totals).toMatchObject([{ rows: 2, value: '30.59', unknown: 0 }]);
    }
    const { totals } = await preview(projectId, `report=refunds&${period}`);
    expect(totals).toMatchObject([{ rows: 1, value: '10', unknown: 0 }]);
  });

  it('is made once at a time for a project', async () => {
    const { projectId } = await shop();
    const held = await app.database.connect();
    await held.query('select pg_advisory_lock(7203613, hashtext($1))', [projectId]);
    expect((await call(projectId, 'statement', DAYS)).text).toBe('{"busy":true}\n');
    await held.end();
    expect(await made(projectId)).toMatchObject({ verdict: 'balanced' });
  });
});
