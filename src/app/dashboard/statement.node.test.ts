import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { bookLost } from '../chains/book-lost.ts';
import { account, setWallet, xpubOf } from '../chains/follow-chain.fixture.ts';
import { arrives, choose, dollars, tokenShop, transaction } from '../payments/token-shop.fixture.ts';
import { acceptPayment } from '../payments/payment-actions.ts';
import { runDue } from '../payments/run-due.ts';
import { simulatePayment } from '../payments/simulate-payment.ts';
import { createProject } from '../projects/projects.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { runDueRefunds } from '../refunds/end-refunds.ts';
import type { Mode } from '../../domain/permission.ts';
import type { ReportDays } from '../../domain/report.ts';
import type { Statement, TokenStatement } from '../../domain/books.ts';
import { saveDepositCheck, setDepositBalance, type DepositBalance } from '../../store/sweeps/deposit-balances.ts';
import { saveLostTransfers, type LostTransfer } from '../../store/chains/lost-transfers.ts';
import { WAIT } from '../../../test/deadline.ts';
import { makeStatement, openStatement } from './export-report.ts';
import { openLongRead } from '../../store/long-reads.ts';

const REFUND_TO = '0x52908400098527886E0F7030069857D2E4169EE7';
const JUNE: ReportDays = { from: '2026-06-01', to: '2026-06-30', zone: 'UTC' };

async function statement(
  app: Pick<TestApp, 'database' | 'railFor' | 'projectId'>,
  days: ReportDays = JUNE,
  mode: Mode = 'test',
): Promise<Statement> {
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

const DAY_MS = 86_400_000;

/** Ether on an address of this wallet that nobody here was given; the address. */
async function lostMoney(
  app: TestApp,
  firstAddress: string,
  { amountUnits, addressIndex }: Pick<LostTransfer, 'amountUnits' | 'addressIndex'>,
): Promise<string> {
  const address = `0x${String(addressIndex).padStart(40, '0')}`;
  const place = { network: 'ethereum', asset: 'ETH', outputIndex: 0, address, firstAddress, addressIndex } as const;
  const block = { blockHeight: 30, blockHash: '0x30', blockAt: app.clock(), blockPosition: 0 };
  const lost = { ...place, ...block, transactionHash: `0xee${addressIndex}`, amountUnits, foundAt: app.clock() };
  await app.db.transaction().execute((trx) => saveLostTransfers(trx, [lost]));
  return address;
}

const ETHER = { asset: 'ETH', network: 'ethereum' } as const;
/** The amount owed by an order of 30 USD at the sandbox's price. */
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
    expect(received.value).toBe(3_000n * 2n + 3_000n + 1_515n + 1_500n * 3n);
    expect(made.books.currencies).toEqual([{ currency: 'USD', minor: received.value, transfers: 6, unvalued: 0 }]);
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
    const request = { projectId, mode: 'test', api: 'order', paymentId: split.id, wanted } as const;
    const refund = await createRefund(app, { ...request, address: REFUND_TO, reason: null }, null);
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
    expect(june.refunds).toMatchObject({ refunded: OWED / 4n, pending: 0n, refunds: 1, value: 750n, unvalued: 0 });
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

  it('has money on lost addresses as a line of its own, of who has the wallet now, and as a payment’s once it is booked', async () => {
    const { app } = await tokenShop();
    const { first_address: firstAddress } = await app.db
      .selectFrom('wallets')
      .select('first_address')
      .executeTakeFirstOrThrow();
    await sql`insert into skipped_indexes values ('ethereum', ${firstAddress}, 5, 9, 9, now())`.execute(app.db);
    const lost = await lostMoney(app, firstAddress, { amountUnits: 3n * OWED, addressIndex: 6 });
    await lostMoney(app, firstAddress, { amountUnits: OWED, addressIndex: 9 });
    await sql`insert into chain_cursors (network, height, hash, block_at, updated_at) values ('ethereum', 40, '0x40', now(), now())`.execute(
      app.db,
    );
    const before = only(await statement(app, JUNE, 'live'));
    expect(before).toMatchObject({ opening: 0n, lost: 3n * OWED, closing: 3n * OWED, unexplained: 0n, decimals: 18 });
    expect(before.received).toMatchObject({ received: 0n, transfers: 0 });

    // The wallet is another project's now, and this one has had it.
    const other = await createProject(app, 'Other');
    if (other.kind !== 'done') throw new Error(other.code);
    await setWallet(app, other.project.id);
    await app.db
      .updateTable('wallets')
      .set({ replaced_at: new Date() })
      .where('project_id', '=', app.projectId)
      .execute();
    expect((await statement(app, JUNE, 'live')).tokens).toEqual([]);
    const projectId = other.project.id;
    expect(only(await statement({ ...app, projectId }, JUNE, 'live'))).toMatchObject({ lost: 3n * OWED });

    app.clock.advance(30 * DAY_MS);
    const booking = { amountMinor: 9_000n, currency: 'USD', merchantOrderId: null, projectId } as const;
    expect(await bookLost(app, { ...booking, address: lost })).toMatchObject({ kind: 'done' });
    const after = await statement({ ...app, projectId }, JUNE, 'live');
    expect(only(after)).toMatchObject({ lost: 0n, closing: 3n * OWED, received: { applied: 3n * OWED, excess: 0n } });
    // It counts on the day on which it was found, when nobody asked for a price.
    expect([only(after).received.unvalued, after.verdict]).toEqual([1, 'balanced']);
  });

  it('moves late money to what was applied when its payment is accepted, and not before', async () => {
    const { app } = await tokenShop();
    const payment = await transaction(app);
    const { address } = await choose(app, payment, 'ETH');
    app.clock.set(payment.expiresAt + 1);
    await sql`insert into chain_cursors (network, height, hash, block_at, updated_at, looked_at)
      values ('ethereum', 40, '0x40', ${new Date(app.clock())}, ${new Date(app.clock())}, ${new Date(app.clock())})`.execute(
      app.db,
    );
    await runDue(app, 10);
    expect((await app.read(payment.id)).status).toBe('expired');
    await arrives(app, payment, address, 'ETH', OWED + 5n, 'confirmed');
    const late = { received: OWED + 5n, late: OWED + 5n, applied: 0n, excess: 0n };
    expect(only(await statement(app, JUNE, 'live')).received).toMatchObject(late);
    await acceptPayment(app, { id: payment.id });
    const accepted = await statement(app, JUNE, 'live');
    expect(only(accepted).received).toMatchObject({ received: OWED + 5n, late: 0n, applied: OWED, excess: 5n });
    expect(accepted.verdict).toBe('balanced');
  });

  describe('of deposits', () => {
    /** A deposit to which 5 USDT came in block 100, when a node was asked; up to block 120 all is read. */
    async function deposit() {
      const { app } = await tokenShop();
      const payment = await transaction(app);
      const { address } = await choose(app, payment, 'USDT');
      const watched = address.toLowerCase();
      await sql`update wallets set kind = 'treasury'`.execute(app.db);
      await sql`insert into chain_cursors (network, height, hash, block_at, updated_at)
        values ('ethereum', 120, '0x120', now(), now())`.execute(app.db);
      const come = async (units: bigint, height: number) => {
        await arrives(app, payment, address, 'USDT', dollars(units), 'confirmed');
        await app.db.updateTable('transfers').set({ block_height: height }).where('block_height', '=', 1).execute();
      };
      const sweep = async (units: bigint, height: number, left: bigint | null) => {
        await sql`insert into sweeps (id, project_id, network, purpose, source, state, created_at)
          values (gen_random_uuid(), ${app.projectId}, 'ethereum', 'sweep', 'dashboard', 'mined', now())`.execute(
          app.db,
        );
        await sql`insert into sweep_transfers (sweep_id, project_id, network, deposit_address, token, payment_id, address_index, asset, state, units, block_height)
          select id, project_id, network, ${watched}, '0xusdt', ${payment.id}, 0, 'USDT', 'mined', ${dollars(units)}, ${height} from sweeps`.execute(
          app.db,
        );
        if (left === null) return;
        const known = { network: 'ethereum', address: watched, token: '0xusdt', units: dollars(left), height } as const;
        await app.db.transaction().execute((trx) => setDepositBalance(trx, { ...known, at: app.clock() }));
      };
      await come(5n, 100);
      const balance: DepositBalance = {
        address: watched,
        index: 0,
        treasury: '0xTT',
        paymentId: payment.id,
        token: '0xusdt',
        asset: 'USDT',
        units: dollars(5n),
        usdCents: null,
        pricedBy: null,
      };
      const check = {
        projectId: app.projectId,
        network: 'ethereum',
        at: app.clock(),
        height: 100,
        gasPrice: 1n,
      } as const;
      await app.db
        .transaction()
        .execute((trx) => saveDepositCheck(trx, { ...check, factories: [], balances: [balance] }));
      const made = async () => {
        const { tokens, verdict } = await statement(app, JUNE, 'live');
        const { deposits } = tokens.find(({ asset }) => asset === 'USDT') ?? {};
        return { ...deposits, verdict };
      };
      return { app, come, sweep, made };
    }

    it('counts up to the block after which the balance is known, also where that is one of a sweep after the check', async () => {
      const { come, sweep, made } = await deposit();
      expect(await made()).toMatchObject({ received: dollars(5n), there: dollars(5n), since: 0n, verdict: 'balanced' });
      await come(3n, 105);
      expect(await made()).toMatchObject({ there: dollars(5n), since: dollars(3n), verdict: 'balanced' });
      await sweep(8n, 110, 0n);
      expect(await made()).toMatchObject({ swept: dollars(8n), there: 0n, since: 0n, verdict: 'balanced' });
      await come(2n, 115);
      expect(await made()).toMatchObject({
        received: dollars(10n),
        there: 0n,
        since: dollars(2n),
        verdict: 'balanced',
      });
    });

    it('takes off what a sweep took of which no node says what it left', async () => {
      const { sweep, made } = await deposit();
      await sweep(5n, 110, null);
      expect(await made()).toMatchObject({ swept: dollars(5n), there: 0n, verdict: 'balanced' });
    });

    it('says nothing of a block that was not read yet: what came in it is not known', async () => {
      const { app, made } = await deposit();
      await sql`update transfers set amount_units = amount_units - 1`.execute(app.db);
      await sql`update chain_cursors set height = 99`.execute(app.db);
      expect((await made()).there).toBeNull();
      await sql`update chain_cursors set height = 100`.execute(app.db);
      expect(await made()).toMatchObject({ there: dollars(5n), verdict: 'explained' });
    });
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
    const opened = await openStatement(app, () => openLongRead(app.database), { scope, days: JUNE });
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
