import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { createRefund } from '../../src/app/refunds/create-refund.ts';
import { runDueRefunds } from '../../src/app/refunds/end-refunds.ts';
import { simulatePayment } from '../../src/app/payments/simulate-payment.ts';
import type { ReportPreview, StatementRecord } from '../../src/http/dashboard/reports/contract.ts';
import { readDatev, readXero } from '../bookkeeping.ts';
import { dashboardTest, type Browser } from '../dashboard.ts';

const test = await dashboardTest({ exports: { recheckMs: 20 } });
const { app } = test.http;
const owner = await test.join('owner');
afterAll(() => test.http.close());

const ETHER = { asset: 'ETH', network: 'ethereum' } as const;
const DAYS = { from: '2026-06-01', to: '2026-06-30', zone: 'Europe/Berlin' } as const;
const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const DATEV = {
  consultant_number: '29098',
  client_number: '55003',
  fiscal_year_month: '1',
  account_length: '4',
  wallet_account: '1460',
  receipts_account: '8400',
  refunds_account: '8720',
  fees_account: '4970',
};

/** A live shop that counts in a currency, with two orders that were paid, one of which was refunded in part. */
async function shop(currency: string, withDatev = true) {
  const { projectId } = await test.http.shop();
  app.clock.set(Date.parse('2026-06-15T12:00:00Z'));
  const ids: string[] = [];
  for (const [priced, merchantOrderId] of [
    ['EUR', 'Rg 1.2/Köln'],
    ['JPY', '=1+1;"x"'],
  ] as const) {
    const { id } = await app.pay({ projectId, amountMinor: 3_000n, currency: priced, token: ETHER, merchantOrderId });
    await simulatePayment(app, { id }, 'paid');
    ids.push(id);
    app.clock.advance(1_000);
  }
  const [paymentId = ''] = ids;
  const wanted = { amountMinor: 1_000n };
  const request = { projectId, mode: 'test', api: 'order', paymentId, wanted, address: ADDRESS } as const;
  await createRefund(app, { ...request, reason: null }, null);
  app.clock.advance(11_000);
  await runDueRefunds(app, 10);
  await app.db.updateTable('payments').set({ mode: 'live' }).where('project_id', '=', projectId).execute();
  await app.db.updateTable('refunds').set({ mode: 'live' }).where('project_id', '=', projectId).execute();
  await app.db
    .updateTable('projects')
    .set({ default_currency: currency as 'EUR' })
    .where('id', '=', projectId)
    .execute();
  if (withDatev) await settings(projectId, DATEV);
  return projectId;
}

function settings(projectId: string, datev: typeof DATEV | null) {
  const path = `/dashboard/api/projects/${projectId}/settings/datev`;
  return owner.browser.call<{ datev: typeof DATEV | null }>({ method: 'POST', path, body: { datev } });
}

function call(projectId: string, path: string, body: object, { browser }: { readonly browser: Browser } = owner) {
  return browser.call({ method: 'POST', path: `/dashboard/api/projects/${projectId}/live/reports/${path}`, body });
}

async function preview(projectId: string, format: string): Promise<ReportPreview> {
  const query = new URLSearchParams({ ...DAYS, report: 'bookings', format });
  const answer = await owner.browser.call<ReportPreview>({
    path: `/dashboard/api/projects/${projectId}/live/reports?${query.toString()}`,
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
}

async function statementOf(projectId: string): Promise<StatementRecord> {
  const { text } = await call(projectId, 'statement', DAYS);
  return (JSON.parse(text.trim().split('\n').at(-1) ?? '') as { statement: StatementRecord }).statement;
}

async function datev(projectId: string, who = owner) {
  const answer = await call(projectId, 'export', { ...DAYS, report: 'bookings', format: 'datev' }, who);
  if (answer.status !== 200) throw new Error(answer.text);
  return readDatev(answer.bytes);
}

async function xero(projectId: string) {
  const answer = await call(projectId, 'export', { ...DAYS, report: 'bookings', format: 'xero' });
  if (answer.status !== 200) throw new Error(answer.text);
  return readXero(answer.bytes);
}

/** Adds random movements around the period, with rates of most of its hours, by copying a real transfer and refund. */
async function addMovements(projectId: string, seed: number): Promise<void> {
  const random = randomNumbers(seed);
  const oneOf = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value;
  const moment = (): string => new Date(Date.parse('2026-05-30T00:00:00Z') + random() * 34 * 86_400_000).toISOString();
  const cents = (): string | null => (random() < 0.1 ? null : String(Math.floor(random() ** 4 * 100_000)));
  const token = () => oneOf([ETHER, { asset: 'USDC', network: 'polygon' }, { asset: 'BTC', network: 'bitcoin' }]);
  const { rows: payments } = await sql<{ id: string }>`select id from payments where project_id = ${projectId}`.execute(
    app.db,
  );
  const transfers = Array.from({ length: 300 }, (_, index) => ({
    ...token(),
    payment_id: oneOf(payments).id,
    transaction_hash: `0x${projectId}${index}`,
    amount_units: String(Math.floor(random() * 1e9)),
    state: oneOf(['confirmed', 'confirmed', 'confirmed', 'mined', 'seen', 'dropped']),
    first_seen_at: moment(),
    receipt_minor: cents(),
    receipt_usd_cents: cents(),
  }));
  await sql`insert into transfers select (jsonb_populate_record(t, o)).*
    from transfers t, jsonb_array_elements(${JSON.stringify(transfers)}::jsonb) o
    where t.ctid = (select ctid from transfers where payment_id = ${payments[0]?.id} limit 1)`.execute(app.db);
  const refunds = Array.from({ length: 60 }, (_, index) => ({
    ...token(),
    id: crypto.randomUUID(),
    transaction_hash: `0x${projectId}r${index}`,
    units: String(Math.floor(random() * 1e9)),
    currency: oneOf(['EUR', 'USD', 'JPY']),
    status: oneOf(['completed', 'completed', 'pending', 'failed']),
    completed_at: moment(),
    disposal_minor: cents(),
    disposal_usd_cents: cents(),
  }));
  await sql`insert into refunds select (jsonb_populate_record(r, o)).*
    from refunds r, jsonb_array_elements(${JSON.stringify(refunds)}::jsonb) o
    where r.ctid = (select ctid from refunds where project_id = ${projectId} limit 1)`.execute(app.db);
  for (let index = 0; index < 20; index += 1) {
    await sql`insert into sweeps (id, project_id, network, purpose, source, state, treasury, transaction_hash, created_at, mined_at, fee_units, fee_usd_cents)
      values (gen_random_uuid(), ${projectId}, ${oneOf(['ethereum', 'bsc'])}, 'sweep', 'chain', 'mined', '0xTT', ${`0x${projectId}s${index}`}, now(), ${moment()}, 21000000000000, ${cents()})`.execute(
      app.db,
    );
  }
  await sql`delete from currency_rates where mode = 'live'`.execute(app.db);
  for (let hour = Date.parse('2026-05-31T00:00:00Z'); hour < Date.parse('2026-07-01T00:00:00Z'); hour += 3_600_000) {
    if (random() < 0.05) continue;
    const prices = JSON.stringify({ EUR: String(100_000_000 + Math.floor(random() * 20_000_000)) });
    await sql`insert into currency_rates (mode, hour, prices) values ('live', ${new Date(hour).toISOString()}, ${prices}::jsonb)`.execute(
      app.db,
    );
  }
}

/** Numbers from 0 to 1 that depend on the seed alone (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const sum = (values: readonly bigint[]): bigint => values.reduce((all, one) => all + one, 0n);
/** A decimal text of the statement in cents. */
const centsOf = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(2, '0'));
};
const sumOf = (values: readonly string[]): bigint => sum(values.map(centsOf));

describe('bookings', () => {
  it.each([11, 22, 33])('add up to the statement to the cent, whatever its money is (seed %i)', async (seed) => {
    const projectId = await shop('EUR');
    await addMovements(projectId, seed);
    const { tokens, fees, currency } = await statementOf(projectId);
    expect(currency).toBe('EUR');
    const received = sumOf(tokens.map(({ value_at_receipt: { amount } }) => amount));
    const refunded = sumOf(tokens.map(({ value_at_disposal: { amount } }) => amount));
    const spent = sumOf(fees.map(({ value }) => value));
    const unknown = tokens.reduce((all, one) => all + one.value_at_receipt.unknown + one.value_at_disposal.unknown, 0);
    expect([received > 0n, refunded > 0n, spent > 0n, unknown > 0]).toEqual([true, true, true, true]);

    const batch = await datev(projectId);
    const booked = (contra: string): bigint =>
      sum(batch.bookings.filter((one) => one.contra === contra).map(({ cents }) => cents));
    expect([booked('8400'), booked('8720'), booked('4970')]).toEqual([received, refunded, spent]);
    const lines = await xero(projectId);
    expect(sum(lines.map(({ cents }) => cents))).toBe(received - refunded);
    expect(sum(lines.map(({ cents }) => (cents > 0n ? cents : 0n)))).toBe(received);

    // Each movement is in the file, or is counted as left out.
    const { totals, left_out: leftOut } = await preview(projectId, 'datev');
    const entries = (totals ?? []).reduce((all, { rows }) => all + rows, 0);
    expect(batch.bookings.length + leftOut.count).toBe(entries);
    expect(leftOut.rows.filter(({ why }) => why === 'no_value')).toHaveLength(
      unknown + fees.reduce((all, one) => all + one.unknown, 0),
    );
    expect(sumOf((totals ?? []).flatMap(({ kind, value }) => (kind === 'receipt' ? [value] : [])))).toBe(received);
    expect(new Set(batch.bookings.map(({ day }) => day.slice(0, 6)))).toEqual(new Set(['202606']));
  });

  it('have the accounts, texts and references of the project and its payments', async () => {
    const projectId = await shop('EUR');
    await sql`delete from currency_rates`.execute(app.db);
    const batch = await datev(projectId);
    expect(batch).toMatchObject({
      consultant: 29_098,
      client: 55_003,
      yearStart: '20260101',
      title: 'Cointill 06/2026',
    });
    expect(batch.bookings).toEqual([
      {
        cents: 3_000n,
        isDebit: true,
        account: '1460',
        contra: '8400',
        day: '20260615',
        reference: 'Rg-1-2/Koeln',
        text: 'Zahlungseingang 0,011 ETH',
        id: expect.stringMatching(/^ord_/) as unknown,
      },
      expect.objectContaining({ cents: 1_000n, isDebit: false, contra: '8720', text: 'Erstattung 0,00366666 ETH' }),
    ]);
    // The order in yen has no value in euros without a rate.
    const { left_out: leftOut, totals } = await preview(projectId, 'datev');
    expect(leftOut).toEqual({
      count: 1,
      rows: [
        {
          kind: 'receipt',
          day: '2026-06-15',
          id: expect.stringMatching(/^ord_/) as unknown,
          amount: '0.0065',
          coin: 'ETH',
          why: 'no_value',
        },
      ],
    });
    expect(totals).toMatchObject([
      { kind: 'receipt', coin: 'ETH', rows: 2, value: '30', unknown: 1 },
      { kind: 'refund', amount: '-0.00366666', value: '-10', rows: 1 },
    ]);
  });

  it('are in any currency for Xero, and never begin a cell with a formula', async () => {
    const projectId = await shop('USD', false);
    const lines = await xero(projectId);
    expect(lines.map(({ date, cents, reference }) => [date, cents, reference])).toEqual([
      ['2026-06-15', 3_300n, 'Rg 1.2/Köln'],
      ['2026-06-15', 1_950n, `'=1+1;"x"`],
      ['2026-06-15', -1_100n, 'Rg 1.2/Köln'],
    ]);
  });

  it('of less than a cent are left out, and their sum is not', async () => {
    const projectId = await shop('USD', false);
    await sql`update transfers set receipt_usd_cents = 0 where payment_id in (
      select id from payments where project_id = ${projectId} and currency = 'JPY')`.execute(app.db);
    expect((await preview(projectId, 'xero')).left_out).toMatchObject({ count: 1, rows: [{ why: 'too_small' }] });
    expect(await xero(projectId)).toHaveLength(2);
  });

  it('have no fees for those who may not see wallets, or without an account for them', async () => {
    const projectId = await shop('EUR');
    await sql`insert into sweeps (id, project_id, network, purpose, source, state, treasury, transaction_hash, created_at, mined_at, fee_units, fee_usd_cents)
      values (gen_random_uuid(), ${projectId}, 'ethereum', 'sweep', 'chain', 'mined', '0xTT', '0xab', now(), '2026-06-16T00:00:00Z', 21000000000000, 600)`.execute(
      app.db,
    );
    await sql`insert into currency_rates (mode, hour, prices) values ('live', '2026-06-16T00:00:00Z', '{"EUR":"120000000"}')
      on conflict (mode, hour) do update set prices = excluded.prices`.execute(app.db);
    const fees = async (who = owner) =>
      (await datev(projectId, who)).bookings.filter(({ contra }) => contra === '4970');
    expect(await fees()).toMatchObject([{ cents: 500n, isDebit: false, text: 'Netzwerkgebühr 0,000021 ETH' }]);
    expect(await fees(await test.join('viewer', projectId))).toEqual([]);
    await settings(projectId, { ...DATEV, fees_account: '' });
    expect(await fees()).toEqual([]);
  });

  it('are refused with the reason and the way out', async () => {
    const projectId = await shop('USD', false);
    const refused = async (body: object): Promise<string> =>
      (await call(projectId, 'export', { ...DAYS, report: 'bookings', format: 'datev', ...body })).text;
    expect(await refused({})).toContain('enter them in the dashboard, on the page Settings under “DATEV”');
    await settings(projectId, DATEV);
    expect(await refused({})).toContain('this project counts in USD. Choose EUR as the currency');
    await app.db.updateTable('projects').set({ default_currency: 'EUR' }).where('id', '=', projectId).execute();
    expect(await refused({ to: '2026-07-01' })).toContain('covers days of one month');
    expect(await refused({ format: 'csv' })).toContain('The format of bookings must be datev or xero.');
    expect(await refused({ report: 'transfers' })).toContain('Only bookings have the format of a program.');
    expect((await datev(projectId)).bookings.length).toBeGreaterThan(0);
  });

  it('have settings that are checked, shown, and can be removed', async () => {
    const { projectId } = await test.http.shop();
    const bad = async (change: Partial<typeof DATEV>): Promise<string> =>
      (await settings(projectId, { ...DATEV, ...change })).text;
    expect(await bad({ consultant_number: '1000' })).toContain(
      'The consultant number must be a whole number from 1,001',
    );
    expect(await bad({ account_length: '3' })).toContain('The length of account numbers must be a whole number from 4');
    expect(await bad({ wallet_account: '146000' })).toContain(
      'The account of the wallet must be a number of 1 to 5 digits',
    );
    expect(await bad({ refunds_account: '' })).toContain('The account for refunds must be a number');
    expect((await settings(projectId, DATEV)).body).toEqual({ datev: DATEV });
    const path = `/dashboard/api/projects/${projectId}/settings/datev`;
    expect((await owner.browser.call({ path })).body).toEqual({ datev: DATEV });
    expect((await settings(projectId, null)).body).toEqual({ datev: null });
  });
});
