import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { tokenOf } from '../../domain/asset.ts';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Payment, Transfer } from '../../domain/payment.ts';
import { fixedRates } from '../../rates/fixed.ts';
import { saveTransfers } from '../../store/payments/transfers.ts';
import { inTransaction } from '../in-transaction.ts';
import { completePaidRefunds, runDueRefunds } from '../refunds/end-refunds.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { MAX_RECEIPT_AGE_MS, receiptPrices } from './receipt-prices.ts';
import { simulatePayment } from './simulate-payment.ts';

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const TOKENS = (['ETH', 'BTC'] as const).flatMap((asset) => tokenOf(asset) ?? []);

function worthOf(app: TestApp, { id }: Pick<Payment, 'id'>) {
  return app.db
    .selectFrom('transfers')
    .select(['receipt_minor as minor', 'receipt_usd_cents as usdCents'])
    .where('payment_id', '=', id)
    .orderBy('first_seen_at')
    .execute();
}

/** Saves a transfer of half an ether as a rail does, at these prices of whole units in USD cents. */
async function comes(
  app: TestApp,
  payment: Payment,
  prices: Partial<Record<AssetCode | Fiat, bigint>>,
  transfer: Partial<Transfer> = {},
): Promise<void> {
  const rates = fixedRates(
    new Map(Object.entries(prices).map(([code, cents]) => [code as AssetCode, cents * 1_000_000n])),
  );
  const known: Transfer = {
    network: 'ethereum',
    transactionHash: '0xaa',
    index: 0,
    address: '0xbb',
    asset: 'ETH',
    amountUnits: 5n * 10n ** 17n,
    firstSeenAt: app.clock(),
    blockAt: null,
    blockHeight: null,
    blockPosition: null,
    state: 'seen',
    ...transfer,
  };
  await inTransaction(app, (trx) =>
    saveTransfers(
      trx,
      [{ paymentId: payment.id, transfer: known, blockHash: null }],
      receiptPrices({ rates, seenTokens: TOKENS }, app.clock()),
    ),
  );
}

it('money is valued when it is first seen: in the payment’s currency and in US cents, to the nearest', async () => {
  const app = await testApp();
  const euro = await app.pay({ amountMinor: 9_999n, currency: 'EUR', token: { asset: 'BTC', network: null } });
  await simulatePayment(app, { id: euro.id }, 'paid');
  const { confirmedUnits } = (await app.read(euro.id)).received.all;
  // 60,000 USD a bitcoin, 1.10 USD a euro.
  const usdCents = (confirmedUnits * 6_000_000n + 50_000_000n) / 100_000_000n;
  expect(await worthOf(app, euro)).toEqual([{ minor: 9_999n, usdCents }]);
  const yen = await app.pay({ amountMinor: 15_001n, currency: 'JPY', token: { asset: 'USDT', network: 'bsc' } });
  await simulatePayment(app, { id: yen.id }, 'paid');
  expect(await worthOf(app, yen)).toEqual([{ minor: 15_001n, usdCents: 9_751n }]);
});

it('what money was worth when it came is kept, however often it is seen again at other prices', async () => {
  const app = await testApp();
  const payment = await app.pay({ currency: 'EUR' });
  await comes(app, payment, { ETH: 300_000n, EUR: 110n });
  const first = [{ minor: 136_364n, usdCents: 150_000n }];
  expect(await worthOf(app, payment)).toEqual(first);
  app.clock.advance(30 * 60_000);
  await comes(app, payment, { ETH: 400_000n, EUR: 120n }, { state: 'mined', blockHeight: 7, blockAt: app.clock() });
  expect(await worthOf(app, payment)).toEqual(first);
  await app.db.updateTable('transfers').set({ state: 'dropped' }).execute();
  await comes(app, payment, {}, { state: 'seen' });
  expect(await worthOf(app, payment)).toEqual(first);
  // Another payment's log has its number after a reorganisation.
  const other = await app.pay({ currency: 'USD' });
  await comes(app, other, { ETH: 400_000n }, { state: 'mined', blockHeight: 8 });
  expect(await worthOf(app, other)).toEqual([{ minor: 200_000n, usdCents: 200_000n }]);
});

it('money is of unknown value without a fresh price, and where it came long before it was seen here', async () => {
  const app = await testApp();
  const payment = await app.pay({ currency: 'EUR' });
  const unknown = { minor: null, usdCents: null };
  await comes(app, payment, { BTC: 6_000_000n, EUR: 110n }, { transactionHash: '0x01' });
  expect(await worthOf(app, payment)).toEqual([unknown]);
  await comes(app, payment, { ETH: 300_000n }, { transactionHash: '0x02' });
  expect(await worthOf(app, payment)).toEqual([unknown, { minor: null, usdCents: 150_000n }]);
  const late = await app.pay();
  const blockAt = app.clock() - MAX_RECEIPT_AGE_MS - 1;
  await comes(app, late, { ETH: 300_000n }, { transactionHash: '0x03', state: 'mined', blockHeight: 9, blockAt });
  expect(await worthOf(app, late)).toEqual([unknown]);
});

it('an amount that no money of this world is worth is unknown, and keeps nobody from following the chain', async () => {
  const app = await testApp();
  const payment = await app.pay();
  await comes(app, payment, { ETH: 300_000n }, { amountUnits: 2n ** 255n });
  expect(await worthOf(app, payment)).toEqual([{ minor: null, usdCents: null }]);
});

it('a refund is valued when it is paid, and not before, and not when it fails', async () => {
  const app = await testApp();
  const { id } = await app.pay({ amountMinor: 10_000n, currency: 'EUR', token: { asset: 'ETH', network: null } });
  await simulatePayment(app, { id }, 'paid');
  const refund = (reason: string | null) =>
    createRefund(
      app,
      {
        projectId: app.projectId,
        mode: 'test',
        api: 'order',
        paymentId: id,
        wanted: { amountMinor: 2_500n },
        address: ADDRESS,
        reason,
      },
      null,
    );
  await refund(null);
  await refund('test_failure');
  const values = async () =>
    app.db
      .selectFrom('refunds')
      .select(['status', 'disposal_minor as minor', 'disposal_usd_cents as usdCents'])
      .orderBy('status')
      .execute();
  expect(await values()).toEqual([
    { status: 'pending', minor: null, usdCents: null },
    { status: 'pending', minor: null, usdCents: null },
  ]);
  app.clock.advance(11_000);
  await runDueRefunds(app, 10);
  expect(await values()).toEqual([
    { status: 'completed', minor: 2_500n, usdCents: 2_750n },
    { status: 'failed', minor: null, usdCents: null },
  ]);
});

it('a refund that was paid while the service was away is of unknown value, and one that is found in time has one', async () => {
  const app = await testApp();
  const { id } = await app.pay({ amountMinor: 10_000n, currency: 'EUR', token: { asset: 'ETH', network: null } });
  await simulatePayment(app, { id }, 'paid');
  const request = { projectId: app.projectId, mode: 'test', api: 'order', paymentId: id, address: null } as const;
  for (const amountMinor of [1_000n, 2_000n, 3_000n]) {
    await createRefund(app, { ...request, wanted: { amountMinor }, reason: null }, null);
  }
  await sql`update refunds set mode = 'live', watched_address = id::text`.execute(app.db);
  // Each in a block of its own with two confirmations; the block that gave the last of them the second is forgotten.
  await sql`insert into payment_addresses (payment_id, network, address, asset, decimals, owed_units, tolerance_units, confirmations, issued_at, watch_until)
    values (${id}, 'ethereum', '0xaa', 'ETH', 18, 1, 0, 2, now(), now())`.execute(app.db);
  await sql`insert into refund_payouts (network, transaction_hash, asset, output_index, refund_id, block_height)
    select network, 'tx' || id, asset, 0, id, case amount_minor when 1000 then 12 when 2000 then 10 else 3 end from refunds`.execute(
    app.db,
  );
  const block = (height: number, ago: number) =>
    sql`insert into chain_blocks (network, height, hash, block_at)
    values ('ethereum', ${height}, ${`0x${height}`}, ${new Date(app.clock() - ago)})`.execute(app.db);
  await block(10, 2 * MAX_RECEIPT_AGE_MS);
  await block(11, MAX_RECEIPT_AGE_MS + 1);
  await block(12, MAX_RECEIPT_AGE_MS + 1);
  await block(13, MAX_RECEIPT_AGE_MS);
  await sql`insert into chain_cursors (network, height, hash, block_at, updated_at)
    values ('ethereum', 13, '0x13', now(), now())`.execute(app.db);
  await completePaidRefunds(app, 'ethereum');
  const rows = await app.db
    .selectFrom('refunds')
    .select(['status', 'amount_minor', 'disposal_minor as minor', 'disposal_usd_cents as usdCents'])
    .orderBy('amount_minor')
    .execute();
  expect(rows).toEqual([
    { status: 'completed', amount_minor: 1_000n, minor: 1_000n, usdCents: 1_100n },
    { status: 'completed', amount_minor: 2_000n, minor: null, usdCents: null },
    { status: 'completed', amount_minor: 3_000n, minor: null, usdCents: null },
  ]);
});
