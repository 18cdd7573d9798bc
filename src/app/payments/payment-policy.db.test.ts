import { expect, it } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { allTokens } from '../../domain/asset.ts';
import type { Transfer } from '../../domain/payment.ts';
import { chainRail } from '../../modes/live-rail.ts';
import { publicKeyAt } from '../../rails/utxo/wallet.fixture.ts';
import { MAIN_CHAINS } from '../../rails/utxo/params.ts';
import { createWalletOpener } from '../../rails/wallet.ts';
import { fixedRates } from '../../rates/fixed.ts';
import { saveTransfers } from '../../store/payments/transfers.ts';
import { inTransaction } from '../in-transaction.ts';
import { changeProject } from '../projects/projects.ts';
import { setProjectWallet } from '../projects/wallets.ts';
import { observeMoney } from './chain-money.ts';
import { runDue } from './run-due.ts';

const HOUR_MS = 3_600_000;

async function shop(): Promise<TestApp> {
  const app = await testApp({
    live: ({ db }) =>
      chainRail({
        db,
        rates: fixedRates(new Map([['BTC', 6_000_000_000_000n]])),
        tokens: allTokens(),
        openWallet: createWalletOpener(MAIN_CHAINS),
        evmChain: () => null,
        payoutChain: () => 'main',
      }),
  });
  const source = { kind: 'xpub', text: publicKeyAt("m/84'/0'/0'", 'zpub') } as const;
  const terms = { confirmations: 2, toleranceBasisPoints: null };
  const set = await setProjectWallet(
    app,
    { projectId: app.projectId, network: 'bitcoin', source, ...terms },
    MAIN_CHAINS,
  );
  if (set.kind !== 'done') throw new Error(set.code);
  return app;
}

async function setWindow(app: TestApp, monitoringHours: number | null): Promise<void> {
  const changed = await changeProject(app, app.projectId, { monitoringHours });
  if (changed.kind !== 'done') throw new Error(changed.code);
}

/** An order whose money waits in the mempool for ever. */
async function unconfirmed(app: TestApp) {
  const { id, quote } = await app.pay({ mode: 'live' });
  if (quote === null) throw new Error('There is no quote.');
  const transfer: Transfer = {
    network: 'bitcoin',
    transactionHash: 'ab'.repeat(32),
    index: 0,
    address: quote.address,
    asset: 'BTC',
    amountUnits: quote.owedUnits,
    firstSeenAt: app.clock(),
    blockAt: null,
    blockHeight: null,
    blockPosition: null,
    state: 'seen',
  };
  await inTransaction(app, async (trx) => {
    await saveTransfers(trx, [{ paymentId: id, transfer, blockHash: null }]);
    await observeMoney(app, trx, [id], app.clock());
  });
  return app.read(id);
}

/** The chain was read up to now. */
async function readUpToNow(app: TestApp): Promise<void> {
  const at = new Date(app.clock());
  const times = { block_at: at, updated_at: at, looked_at: at, at_head_at: at };
  const row = { network: 'bitcoin', height: 1, hash: 'cd'.repeat(32), ...times } as const;
  await app.db
    .insertInto('chain_cursors')
    .values(row)
    .onConflict((conflict) => conflict.column('network').doUpdateSet(row))
    .execute();
}

const statusAt = async (app: TestApp, id: string, at: number): Promise<string> => {
  app.clock.set(at);
  await readUpToNow(app);
  await runDue(app, 100);
  const { status, failureReason } = await app.read(id);
  return failureReason ?? status;
};

it('a project’s own monitoring window decides how long its addresses are watched and an unconfirmed payment may confirm', async () => {
  const app = await shop();
  await setWindow(app, 24);
  const { id, status, expiresAt } = await unconfirmed(app);
  expect(status).toBe('processing');
  const [address] = await app.db.selectFrom('payment_addresses').select('watch_until').execute();
  expect(address?.watch_until).toBe(expiresAt + 24 * HOUR_MS);
  expect(await statusAt(app, id, expiresAt + 24 * HOUR_MS - 1)).toBe('processing');
  expect(await statusAt(app, id, expiresAt + 24 * HOUR_MS)).toBe('unconfirmed');
});

it('a window that is lengthened holds for payments that still wait, and that of the service for projects without one', async () => {
  const app = await shop();
  await setWindow(app, 1);
  const { id, expiresAt } = await unconfirmed(app);
  await setWindow(app, null);
  expect(await statusAt(app, id, expiresAt + HOUR_MS)).toBe('processing');
  expect(await statusAt(app, id, expiresAt + app.policy.monitoringMs)).toBe('unconfirmed');
});
