import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { newPayment } from '../../../test/harness.ts';
import { readCursor, networkStates, saveNodes } from '../../store/chains/chain.ts';
import { listPayments } from '../../store/payments/payments.ts';
import { listRefunds } from '../../store/refunds/refunds.ts';
import { listEndpoints } from '../../store/webhooks/webhook-endpoints.ts';
import { etherShop, OWED_WEI, type EtherShop } from './follow-chain.fixture.ts';
import { completeSandboxPayment, selectToken } from '../payments/payment-actions.ts';
import { simulatePayment } from '../payments/simulate-payment.ts';
import { projectsOf } from '../projects/projects.ts';
import { networkStatus } from './network-status.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { runDue } from '../payments/run-due.ts';
import { deliverAll, shop, webhookApp } from '../webhooks/webhooks.fixture.ts';
import { setProjectWallet, walletsOf } from '../projects/wallets.ts';
import { MAIN_CHAINS } from '../../rails/utxo/params.ts';
import { unseenWalletChanges } from '../../store/wallets/wallets.ts';
import { checkDeposits } from '../sweeps/check-deposits.ts';
import { begin, deployFactory, ended, follow, send, sweepShop, type SweepShop } from '../sweeps/sweep-shop.fixture.ts';

/** Everything that a process of today does with the tables that it writes: returns what each step came to. */
async function aDayAtTheShop(ether: EtherShop, key: string): Promise<readonly string[]> {
  const { app } = ether;
  const { db, projectId } = app;
  const steps: string[] = [];
  const done = (step: string, outcome: { readonly kind: string }): void => void steps.push(`${step}: ${outcome.kind}`);
  const paid = await ether.order();
  await ether.pay(paid.address, OWED_WEI);
  await ether.mine(3);
  await ether.follow();
  steps.push(`live order: ${(await app.read(paid.id)).status}`);
  const idempotency = { projectId, mode: 'test', route: 'POST /v1/orders', key, bodyHash: Buffer.from('aa') } as const;
  for (const time of ['first', 'again']) {
    done(time, await app.creator.create(newPayment(projectId), (payment) => payment.id, idempotency));
  }
  const transaction = await app.pay({ api: 'transaction', token: null });
  done('token chosen', await selectToken(app, { id: transaction.id }, { asset: 'BTC', network: null }));
  done('simulated', await simulatePayment(app, { id: transaction.id }, 'part'));
  const completed = await app.pay();
  done('completed', await completeSandboxPayment(app, { id: completed.id }));
  const refund = { projectId, mode: 'test', api: 'order', paymentId: completed.id } as const;
  done('refund', await createRefund(app, { ...refund, wanted: null, address: null, reason: null }, null));
  app.clock.advance(60 * 60_000);
  await runDue(app, 100);
  await saveNodes(db, 'ethereum', [{ node: 'http://node', height: 1, problem: null }], app.clock());
  const all = { statuses: null, createdFrom: null, createdBefore: null };
  const scope = { projectId, mode: 'test', modes: ['test'], api: 'order' } as const;
  const page = { limit: 100, offset: 0 };
  steps.push(`has payments: ${(await listPayments(db, scope, all, page)).length > 0}`);
  const refunds = await listRefunds(db, { ...scope, status: null, payment: null }, page);
  steps.push(`has refunds: ${refunds.total > 0}`);
  steps.push(`projects: ${(await projectsOf(app)).length}`);
  done('wallets', await walletsOf(app, projectId));
  steps.push(`follows: ${(await readCursor(db, 'ethereum')) !== null}`);
  steps.push(`networks: ${(await networkStates(db)).nodes.length}`);
  steps.push(`endpoints: ${(await listEndpoints(db, null)).length}`);
  return steps;
}

async function addColumns(db: EtherShop['app']['db']): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public'`.execute(db);
  for (const { name } of rows) {
    await sql`alter table ${sql.ref(name)} add column added_later integer not null default 7`.execute(db);
  }
}

it('an old process beside a database with a new column in every table can still write and read', async () => {
  const ether = await etherShop();
  const before = await aDayAtTheShop(ether, 'cart-1');
  await addColumns(ether.app.db);
  expect(await aDayAtTheShop(ether, 'cart-2')).toEqual(before);
  expect(before).toContain('live order: completed');
  for (const table of ['payments', 'payment_addresses', 'transfers', 'events', 'idempotency_keys'] as const) {
    const { rows } = await sql<{ added_later: number }>`
      select distinct added_later from ${sql.ref(table)}`.execute(ether.app.db);
    expect(rows).toEqual([{ added_later: 7 }]);
  }
});

/** Sweeps a deposit and changes the wallet: returns what each step came to. */
async function aDayAtTheSafe(shop: SweepShop, confirmations: number): Promise<readonly string[]> {
  const { app } = shop;
  await shop.paidDeposits(1);
  await checkDeposits(app, shop.chain, app.projectId);
  await send(shop, await begin(shop));
  await shop.mine();
  await follow(shop);
  const [sweep] = await ended(shop);
  const { projectId } = app;
  const source = { kind: 'treasury', text: shop.treasury } as const;
  const wallet = { projectId, network: 'ethereum', source, confirmations, toleranceBasisPoints: null };
  const changed = await setProjectWallet(app, wallet, MAIN_CHAINS);
  const changes = await unseenWalletChanges(app.db, projectId, 10);
  return [`sweep: ${sweep?.state}`, `wallet: ${changed.kind}`, `has changes: ${changes.length > 0}`];
}

it('an old process goes on to sweep and to tell of changed wallets', async () => {
  const shop = await sweepShop();
  await shop.paidDeposits(1);
  await deployFactory(shop);
  const before = await aDayAtTheSafe(shop, 2);
  await addColumns(shop.app.db);
  expect(await aDayAtTheSafe(shop, 3)).toEqual(before);
  expect(before).toEqual(['sweep: mined', 'wallet: done', 'has changes: true']);
});

it('an old process passes over a network that it does not know, which another one follows', async () => {
  const ether = await etherShop();
  const { db, clock } = ether.app;
  const before = await aDayAtTheShop(ether, 'cart-1');
  const at = new Date(clock());
  await sql`insert into chain_cursors (network, height, hash, block_at, updated_at)
    values ('later', 7, 'ab', ${at}, ${at})`.execute(db);
  await sql`insert into chain_nodes (network, node, height, checked_at)
    values ('later', 'http://node', 7, ${at})`.execute(db);
  const known = await networkStatus(ether.app, ['ethereum']);
  expect(known.map(({ network }) => network)).toEqual(['ethereum']);
  expect(await aDayAtTheShop(ether, 'cart-2')).toEqual(before);
});

it('webhooks go on too', async () => {
  const { app, deliverer, register, log } = await webhookApp();
  const receiver = await shop();
  const { id } = await register(receiver.url);
  const sender = deliverer();
  const send = async (): Promise<void> => {
    await app.pay();
    await deliverAll(app, sender);
  };
  await send();
  await log(id);
  await addColumns(app.db);
  await send();
  expect((await log(id)).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
});
