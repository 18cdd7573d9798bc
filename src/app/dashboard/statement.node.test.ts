import { describe, expect, it, vi } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { account, setWallet, xpubOf } from '../chains/follow-chain.fixture.ts';
import { arrives, choose, dollars, tokenShop, transaction } from '../payments/token-shop.fixture.ts';
import { acceptPayment } from '../payments/payment-actions.ts';
import { simulatePayment } from '../payments/simulate-payment.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { runDueRefunds } from '../refunds/end-refunds.ts';
import type { Mode } from '../../domain/permission.ts';
import type { ReportDays } from '../../domain/report.ts';
import type { Statement, TokenStatement } from '../../domain/books.ts';
import { WAIT } from '../../../test/deadline.ts';
import { makeStatement, openStatement } from './export-report.ts';

const JUNE: ReportDays = { from: '2026-06-01', to: '2026-06-30', zone: 'UTC' };

async function statement(app: TestApp, days: ReportDays = JUNE, mode: Mode = 'test'): Promise<Statement> {
  const client = await app.database.connect();
  try {
    const scope = { projectId: app.projectId, mode, withSweeps: true };
    return await makeStatement(app, client, { scope, days }, () => Promise.resolve());
  } finally {
    await client.end();
  }
}

function only({ tokens }: Statement): TokenStatement {
  const [token] = tokens;
  if (token === undefined || tokens.length !== 1) throw new Error(`There are ${tokens.length} tokens.`);
  return token;
}

const ETHER = { asset: 'ETH', network: 'ethereum' } as const;
/** What an order of 30 USD owes at the sandbox's price. */
const OWED = 10n ** 16n;
const order = (app: TestApp) => app.pay({ amountMinor: 3_000n, token: ETHER });

describe('a statement', () => {
  it('says to the last unit what became of the money that came in its period', async () => {
    const app = await testApp();
    for (const simulation of ['paid', 'over', 'part', 'late', 'part'] as const) {
      await simulatePayment(app, { id: (await order(app)).id }, simulation);
    }
    const partly = await order(app);
    await simulatePayment(app, { id: partly.id }, 'part');
    await acceptPayment(app, { id: partly.id });
    const made = await statement(app);
    const { received, opening, closing, unexplained } = only(made);
    const tolerance = OWED / 200n;
    expect(received).toMatchObject({
      before: 0n,
      applied: 2n * OWED + OWED / 2n,
      excess: OWED / 2n + tolerance + 1n,
      open: OWED,
      underpaid: 0n,
      late: OWED,
      superseded: 0n,
      unquoted: 0n,
      transfers: 6,
      unvalued: 0,
    });
    expect([opening, unexplained, made.verdict]).toEqual([0n, 0n, 'balanced']);
    expect(closing).toBe(received.received);
    // 3,000 USD an ether: three of 30 USD, two halves, an excess of 15.15 USD, and what was accepted.
    expect(received.usdCents).toBe(3_000n * 2n + 3_000n + 1_515n + 1_500n * 3n);
    expect(made.books.currencies).toEqual([{ currency: 'USD', minor: received.usdCents, transfers: 6, unvalued: 0 }]);
  });

  it('opens with what there was at the end of the one before, also where a payment is paid in both', async () => {
    const app = await testApp();
    app.clock.set(Date.parse('2026-05-31T23:50:00Z'));
    const split = await order(app);
    await simulatePayment(app, { id: split.id }, 'part');
    app.clock.set(Date.parse('2026-06-01T00:05:00Z'));
    await simulatePayment(app, { id: split.id }, 'over');
    const { projectId } = app;
    const wanted = { amountMinor: 750n };
    const request = { projectId, mode: 'test', surface: 'order', paymentId: split.id, wanted } as const;
    const refund = await createRefund(app, { ...request, address: null, reason: null }, null);
    expect(refund.kind).toBe('done');
    const pending = only(await statement(app)).refunds;
    expect(pending).toMatchObject({ refunded: 0n, pending: OWED / 4n });
    app.clock.advance(11_000);
    await runDueRefunds(app, 10);
    const may = only(await statement(app, { from: '2026-05-01', to: '2026-05-31', zone: 'UTC' }));
    const june = only(await statement(app));
    expect(may.received).toMatchObject({ before: 0n, received: OWED / 2n, applied: OWED / 2n, excess: 0n });
    expect(june.received).toMatchObject({ before: OWED / 2n, applied: OWED / 2n });
    expect(june.received.excess).toBe(june.received.received - OWED / 2n);
    expect(june.opening).toBe(may.closing);
    expect(june.refunds).toMatchObject({ refunded: OWED / 4n, pending: 0n, refunds: 1, usdCents: 750n, unvalued: 0 });
    expect(june.closing).toBe(june.opening + june.received.received - OWED / 4n);
    // The same hour is of May in New York.
    const inNewYork = only(await statement(app, { from: '2026-05-31', to: '2026-05-31', zone: 'America/New_York' }));
    expect(inNewYork.received.received).toBe(may.received.received + june.received.received);
  });

  it('keeps money in a token that the payment was quoted in once apart from money in one that it never was', async () => {
    const { app } = await tokenShop();
    await setWallet(app, app.projectId, xpubOf(account(3)));
    const payment = await transaction(app);
    const first = await choose(app, payment, 'USDT');
    await choose(app, payment, 'ETH');
    await arrives(app, payment, first.address, 'ETH', OWED, 'confirmed');
    await arrives(app, payment, first.address, 'USDT', dollars(5n), 'confirmed');
    await arrives(app, payment, first.address, 'USDC', dollars(7n), 'confirmed');
    const { tokens, verdict } = await statement(app, JUNE, 'live');
    expect(
      tokens.map(({ asset, decimals, received }) => [
        asset,
        decimals,
        received.applied,
        received.superseded,
        received.unquoted,
      ]),
    ).toEqual([
      ['ETH', 18, OWED, 0n, 0n],
      ['USDC', 6, 0n, 0n, dollars(7n)],
      ['USDT', 6, 0n, dollars(5n), 0n],
    ]);
    expect(verdict).toBe('balanced');
    // Nobody knew a price when these were kept.
    expect(tokens.map(({ received }) => [received.transfers, received.unvalued])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
    ]);
  });

  it('names the payments whose own sums are not those of their transfers, and those that were refunded too much', async () => {
    const app = await testApp();
    const [right, wrong, without] = [await order(app), await order(app), await order(app)];
    for (const { id } of [right, wrong, without]) await simulatePayment(app, { id }, 'paid');
    await app.db
      .updateTable('payments')
      .set({ confirmed_units: OWED + 1n })
      .where('id', '=', wrong.id)
      .execute();
    await app.db.deleteFrom('transfers').where('payment_id', '=', without.id).execute();
    const made = await statement(app);
    expect(made.verdict).toBe('explained');
    expect(made.books.differences.count).toBe(2);
    expect(made.books.differences.rows).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ paymentId: wrong.id, transfers: OWED, payment: OWED + 1n }),
        expect.objectContaining({ paymentId: without.id, transfers: 0n, payment: OWED }),
      ]),
    );
  });

  it('ends in the database with whoever waits for it', async () => {
    const app = await testApp();
    await simulatePayment(app, { id: (await order(app)).id }, 'paid');
    const scope = { projectId: app.projectId, mode: 'test', withSweeps: true } as const;
    const opened = await openStatement(app, () => app.database.connect(), { scope, days: JUNE });
    if (opened.kind !== 'opened') throw new Error(opened.kind);
    const blocking = await app.database.connect();
    await blocking.query('begin; lock table refunds in access exclusive mode');
    const steps: string[] = [];
    const written = opened.file.write(async (piece) => void steps.push(String(piece))).catch((error: unknown) => error);
    await vi.waitUntil(() => steps.length === 3, WAIT);
    await opened.file.stop();
    expect(await written).toBeInstanceOf(Error);
    const { rows } = await blocking.query(
      "select from pg_locks where locktype = 'advisory' and classid in (7203612, 7203613) and database = (select oid from pg_database where datname = current_database())",
    );
    expect(rows).toEqual([]);
    await blocking.end();
  });
});
