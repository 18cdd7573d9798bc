import * as fc from 'fast-check';
import { sql } from 'kysely';
import { parseUnits } from 'viem';
import { expect, it } from 'vitest';
import type { TestApp } from '../../../test/harness.ts';
import type { AssetCode } from '../../domain/asset-code.ts';
import { statementOf } from '../../domain/books.ts';
import type { Payment } from '../../domain/payment.ts';
import { isFinal } from '../../domain/status.ts';
import { matchingAddress } from '../../rails/address.ts';
import { readBooks } from '../../store/reports/report-books.ts';
import { saveLostTransfers } from '../../store/chains/lost-transfers.ts';
import { findTransfers, saveTransfers } from '../../store/payments/transfers.ts';
import { statementRecord } from '../../wire/books.ts';
import { bookLost } from '../chains/book-lost.ts';
import { inTransactionOnce } from '../idempotency.ts';
import { inTransaction } from '../in-transaction.ts';
import { arrival, observeMoney } from '../payments/chain-money.ts';
import { acceptPayment, cancelPayment, selectToken } from '../payments/payment-actions.ts';
import { runDue } from '../payments/run-due.ts';
import { tokenShop, transaction } from '../payments/token-shop.fixture.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { applyToRefund } from '../refunds/save-refund.ts';
import { lockRefund } from '../../store/refunds/refunds.ts';
import { decimalsOf, tokensOf } from './export-report.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const NETWORK = 'ethereum';
const ASSETS = ['ETH', 'USDT', 'USDC'] as const satisfies readonly AssetCode[];

const asset = fc.constantFrom(...ASSETS);
const which = fc.nat({ max: 3 });
/** Tenths of the amount that an order of 30 USD owes. */
const tenths = fc.constantFrom(1n, 4n, 6n, 10n, 10n, 13n);
const STEP = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pay' as const), asset }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('choose' as const), which, asset }) },
  {
    weight: 7,
    arbitrary: fc.record({ kind: fc.constant('come' as const), which, asset, tenths, isConfirmed: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 90 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom('confirm' as const, 'drop', 'accept', 'cancel', 'refund'), which }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lose' as const), asset, tenths }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('book' as const), which }) },
);
type Step = typeof STEP extends fc.Arbitrary<infer One> ? One : never;

const owed = (token: AssetCode): bigint => (token === 'ETH' ? 10n ** 16n : 30_000_000n);

it('a statement balances to the last unit, whatever came too late, in a coin of before, on lost addresses, and was refunded', async () => {
  const { app } = await tokenShop();
  await sql`insert into chain_cursors (network, height, hash, block_at, updated_at) values (${NETWORK}, 40, '0x40', now(), now())`.execute(
    app.db,
  );
  await sql`insert into skipped_indexes select network, first_address, 0, 1000, 1000, now() from wallets`.execute(
    app.db,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 15, maxLength: 35 }), fc.nat({ max: 100 }), async (steps, cut) => {
      await sql`truncate payments, transfers, payment_addresses, payment_quotes, refunds, lost_transfers cascade`.execute(
        app.db,
      );
      const startAt = app.clock();
      const world: World = { app, payments: [], lost: [] };
      for (const step of steps) {
        app.clock.advance(1_000);
        await take(world, step);
      }
      expect(await faultsOf(world, startAt + Math.floor(((app.clock() - startAt) * cut) / 100))).toEqual([]);
    }),
    { numRuns: 8 },
  );
}, 240_000);

interface World {
  readonly app: TestApp;
  readonly payments: Payment[];
  /** Addresses with lost money. */
  readonly lost: string[];
}

async function take({ app, payments, lost }: World, step: Step): Promise<void> {
  if (step.kind === 'pay') {
    const payment = await transaction(app);
    payments.push(payment);
    return void (await selectToken(app, { id: payment.id }, { asset: step.asset, network: NETWORK }));
  }
  if (step.kind === 'wait') {
    app.clock.advance(step.minutes * MINUTE_MS);
    await sql`update chain_cursors set looked_at = ${new Date(app.clock())}, block_at = ${new Date(app.clock())},
      updated_at = ${new Date(app.clock())}`.execute(app.db);
    return void (await runDue(app, 100));
  }
  if (step.kind === 'lose') return lose(app, lost, (owed(step.asset) * step.tenths) / 10n, step.asset);
  if (step.kind === 'book') {
    const address = lost[step.which % Math.max(1, lost.length)] ?? '';
    const booking = { amountMinor: 3_000n, currency: 'USD', merchantOrderId: null, projectId: null } as const;
    return void (await bookLost(app, { ...booking, address }));
  }
  const payment = payments[step.which % Math.max(1, payments.length)];
  if (payment === undefined) return;
  const { id } = payment;
  if (step.kind === 'choose') return void (await selectToken(app, { id }, { asset: step.asset, network: NETWORK }));
  if (step.kind === 'accept') return void (await acceptPayment(app, { id }));
  if (step.kind === 'cancel') return void (await cancelPayment(app, { id }));
  if (step.kind === 'refund') return refund(app, payment);
  if (step.kind === 'come') return come(app, id, step);
  const [before, after] = step.kind === 'confirm' ? ['mined', 'confirmed'] : ['confirmed', 'dropped'];
  await inTransaction(app, async (trx) => {
    await sql`update transfers set state = ${after} where payment_id = ${id} and state = ${before}`.execute(trx);
    await observeMoney(app, trx, [id], app.clock());
  });
}

let numbers = 0;

async function come(app: TestApp, id: string, { asset: of, tenths: part, isConfirmed }: Step & { kind: 'come' }) {
  const { quote } = await app.read(id);
  if (quote === null) return;
  const block = { height: 1, hash: '0x1', parentHash: '0x0', timeMs: app.clock(), transfers: [] };
  const place = { transactionHash: `0x${(numbers += 1)}`, index: 0, address: matchingAddress(NETWORK, quote.address) };
  const transfer = { ...place, asset: of, amount: (owed(of) * part) / 10n + 1n };
  await inTransaction(app, async (trx) => {
    const arrived = arrival(NETWORK, block, transfer, id, app.clock()).map((each) =>
      isConfirmed ? { ...each, transfer: { ...each.transfer, state: 'confirmed' as const } } : each,
    );
    await saveTransfers(trx, arrived);
    await observeMoney(app, trx, [id], app.clock());
  });
}

async function lose(app: TestApp, lost: string[], amountUnits: bigint, of: AssetCode): Promise<void> {
  const { first_address: firstAddress } = await app.db
    .selectFrom('wallets')
    .select('first_address')
    .executeTakeFirstOrThrow();
  const address = `0x${String((numbers += 1)).padStart(40, '0')}`;
  const place = {
    network: NETWORK,
    asset: of,
    outputIndex: 0,
    address,
    firstAddress,
    addressIndex: lost.length,
  } as const;
  const block = { blockHeight: 1, blockHash: '0x1', blockAt: app.clock(), blockPosition: 0 };
  const one = { ...place, ...block, transactionHash: `0x${numbers}`, amountUnits, foundAt: app.clock() };
  await app.db.transaction().execute((trx) => saveLostTransfers(trx, [one]));
  lost.push(address);
}

/** Refunds what is confirmed, and pays it. */
async function refund(app: TestApp, { id, projectId }: Payment): Promise<void> {
  const { status, received } = await app.read(id);
  if (!isFinal(status) || received.all.confirmedUnits === 0n) return;
  const request = {
    projectId,
    mode: 'live',
    api: 'transaction',
    paymentId: id,
    address: null,
    reason: null,
  } as const;
  const made = await createRefund(app, { ...request, wanted: null }, null);
  if (made.kind !== 'done') return;
  const { rows } = await sql<{ id: string }>`select id from refunds order by id desc limit 1`.execute(app.db);
  await inTransactionOnce(app, null, async (trx) => {
    const locked = await lockRefund(trx, rows[0]?.id ?? '');
    if (locked === null) throw new Error('the refund is gone');
    return applyToRefund(app, trx, locked, { kind: 'paid', transactionHash: '0xpaid' }, null);
  });
}

/** Adds up everything anew, in two periods that meet at a moment, and compares; what is not the same. */
async function faultsOf({ app }: World, cut: number): Promise<readonly string[]> {
  const faults: string[] = [];
  const same = (what: string, found: unknown, expected: unknown): void => {
    if (found !== expected) faults.push(`${what}: ${String(found)}, not ${String(expected)}`);
  };
  const { rows } = await sql<{ id: string }>`select id from payments`.execute(app.db);
  const transfers = await findTransfers(
    app.db,
    rows.map(({ id }) => id),
  );
  const confirmed = [...transfers.values()].flat().filter(({ state }) => state === 'confirmed');
  const made = await statements(app, cut);
  for (const token of ASSETS) {
    const decimals = token === 'ETH' ? 18 : 6;
    // The closing is negative if a reorganisation takes back money that was refunded.
    const units = (text = '0'): bigint => parseUnits(text, decimals);
    const found = made.map(({ tokens }) => tokens.find((one) => one.coin === token));
    const received = found.reduce((sum, one) => sum + units(one?.received), 0n);
    const came = confirmed.filter(({ asset: of }) => of === token);
    same(
      `received ${token}`,
      received,
      came.reduce((sum, { amountUnits }) => sum + amountUnits, 0n),
    );
    for (const one of found.filter((each) => each !== undefined)) {
      const parts = [one.applied, one.excess, one.open, one.underpaid, one.late, one.superseded, one.unquoted];
      const sum = parts.reduce((all, part) => all + units(part), 0n);
      same(`what became of ${token}`, sum, units(one.received));
      const closing = units(one.opening) + units(one.received) + units(one.lost) - units(one.refunded);
      same(`closing ${token}`, units(one.closing), closing);
    }
    const [first, second] = found;
    same(`opening ${token}`, second?.opening ?? '0', first?.closing ?? '0');
  }
  for (const { verdict, over_refunds: over, differences } of made) {
    same('payments that differ', differences.count, 0);
    // A refund of money that a reorganisation took is named.
    same('verdict', verdict, over.count === 0 ? 'balanced' : 'explained');
  }
  return faults;
}

/** From now on this session believes to be on a standby, which has no temporary tables. */
const AS_STANDBY = `create schema if not exists standby; set search_path = standby, pg_catalog, public;
  create or replace function standby.pg_is_in_recovery() returns boolean return true`;

async function statements(app: TestApp, cut: number) {
  const days = { from: '2026-06-01', to: '2026-06-30', zone: 'UTC' };
  const scope = { projectId: app.projectId, mode: 'live', withSweeps: true, currency: 'USD' } as const;
  const tokens = tokensOf(app, 'live');
  const made = [];
  for (const span of [
    { startAt: 0, endAt: cut },
    { startAt: cut, endAt: app.clock() + DAY_MS },
  ]) {
    const client = await app.database.connect();
    try {
      const books = await readBooks(client, scope, span, () => Promise.resolve());
      await client.query(AS_STANDBY);
      expect(await readBooks(client, scope, span, () => Promise.resolve())).toEqual(books);
      made.push(
        statementRecord(
          statementOf(books, (token) => decimalsOf(tokens, token)),
          days,
          span,
          0,
        ),
      );
    } finally {
      await client.end();
    }
  }
  return made;
}
