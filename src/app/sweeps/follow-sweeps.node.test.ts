import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { WAIT } from '../../../test/deadline.ts';
import { lockSweeps, openSweeps } from '../../store/sweeps/sweeps.ts';
import { OWED_WEI } from '../chains/follow-chain.fixture.ts';
import { checkDeposits } from './check-deposits.ts';
import { followSweeps, GONE_MS } from './follow-sweeps.ts';
import { giveUpSweep, sweepSent } from './send-sweep.ts';
import {
  accountedFor,
  begin,
  begun,
  deployFactory,
  deposits,
  ended,
  follow,
  send,
  sweepShop,
  tokenShop,
  waiting,
} from './sweep-shop.fixture.ts';

it('a sweep whose block is replaced waits again, its money lies on the deposits meanwhile, and it is mined once', async () => {
  const shop = await sweepShop();
  await shop.paidDeposits(1);
  await deployFactory(shop);
  const sweep = await begin(shop);
  const back = await shop.checkpoint();
  const hash = await send(shop, sweep);
  await shop.mine();
  await follow(shop);
  expect(await ended(shop)).toMatchObject([{ state: 'mined', transactionHash: hash }, { purpose: 'deploy_factory' }]);
  expect(await accountedFor(shop)).toBe(0n);
  const raw = await shop.anvil.rpc('eth_getRawTransactionByHash', [hash]);
  await back();
  await shop.mine();
  await follow(shop);
  expect(await openSweeps(shop.app.db, shop.app.projectId)).toMatchObject([{ state: 'seen', height: null }]);
  expect(await accountedFor(shop)).toBe(OWED_WEI);
  expect((await deposits(shop)).underWay).toMatchObject([{ units: OWED_WEI }]);
  expect(await shop.anvil.rpc('eth_sendRawTransaction', [raw])).toBe(hash);
  await shop.mine();
  await follow(shop);
  expect(await ended(shop)).toMatchObject([{ state: 'mined', transactionHash: hash }, {}]);
  expect(await accountedFor(shop)).toBe(0n);
});

it('of two sweeps of one deposit in the same block, one took what lay there, and the other nothing', async () => {
  const { shop, token } = await tokenShop();
  const { app } = shop;
  const [address = ''] = await shop.paidDeposits(1);
  await token.transfer(address, 1_234_567n);
  await shop.advance();
  await deployFactory(shop);
  const first = await begin(shop);
  await giveUpSweep(app, { projectId: app.projectId, id: first.id });
  const second = await begin(shop);
  // The wallet that was given up is asked all the same, and both are in the next block.
  const taking = await send(shop, first);
  const late = await send(shop, second);
  await shop.mine();
  await follow(shop);
  const byHash = new Map((await ended(shop)).map((sweep) => [sweep.transactionHash, sweep]));
  expect(byHash.get(taking)).toMatchObject({ state: 'mined', problem: null });
  expect(byHash.get(late)).toMatchObject({ state: 'failed', problem: 'paid_nothing' });
  const rows = await app.db
    .selectFrom('sweep_transfers')
    .select(['asset', 'units'])
    .where('state', '=', 'mined')
    .orderBy('asset')
    .execute();
  expect(rows.map(({ asset, units }) => [asset, units])).toEqual([
    ['ETH', OWED_WEI],
    ['USDT', 1_234_567n],
  ]);
});

it('a factory is on the chain when its code is, not because a transaction was mined that its hash names', async () => {
  const shop = await sweepShop();
  const { app, chain, anvil } = shop;
  await shop.paidDeposits(1);
  await checkDeposits(app, chain, app.projectId);
  const sweep = await begin(shop);
  const hash = await anvil.transfer(shop.treasury, 1n);
  await sweepSent(app, { projectId: app.projectId, id: sweep.id }, { hash, sender: null });
  await shop.mine();
  await follow(shop);
  expect(await ended(shop)).toMatchObject([{ state: 'ended', problem: 'lost', feeUnits: null }]);
  expect((await deposits(shop)).calls.map(({ call, isReady }) => [call.purpose, isReady])).toEqual([
    ['deploy_factory', true],
    ['sweep', false],
  ]);
  await deployFactory(shop);
  expect((await deposits(shop)).calls.map(({ call, isReady }) => [call.purpose, isReady])).toEqual([['sweep', true]]);
});

it('a sweep that a node knew is lost when none has known it for two minutes, however long ago it was sent', async () => {
  const shop = await sweepShop();
  const { app, anvil } = shop;
  const { sweep, hash } = await waiting(shop, 1);
  await follow(shop, 3 * GONE_MS);
  const raw = await anvil.rpc('eth_getRawTransactionByHash', [hash]);
  await anvil.rpc('anvil_dropTransaction', [hash]);
  await follow(shop, GONE_MS - 1);
  expect(await openSweeps(app.db, app.projectId)).toMatchObject([{ state: 'seen', transactionHash: hash }]);
  await anvil.rpc('eth_sendRawTransaction', [raw]);
  await follow(shop);
  await anvil.rpc('anvil_dropTransaction', [hash]);
  await follow(shop, GONE_MS - 1);
  expect(await openSweeps(app.db, app.projectId)).toMatchObject([{ state: 'seen' }]);
  await follow(shop, 20_000);
  expect((await ended(shop))[0]).toMatchObject({ id: sweep.id, state: 'ended', problem: 'lost' });
});

it('a hash that is corrected while its predecessor is followed stays corrected', async () => {
  const shop = await sweepShop();
  const { app, chain, anvil } = shop;
  const { sweep, key } = await begun(shop, 1);
  const wrong = await anvil.transfer(shop.treasury, 1n);
  await sweepSent(app, key, { hash: wrong, sender: null });
  const hash = await shop.send({ to: sweep.callTo ?? '', data: sweep.callData ?? '' });
  await shop.mine();
  const correct = async (height: number) => {
    await sweepSent(app, key, { hash, sender: null });
    return chain.caller.block(height);
  };
  app.clock.advance(60_000);
  await followSweeps(app, () => ({ ...chain, caller: { ...chain.caller, block: correct } }), { limit: 10 });
  expect(await openSweeps(app.db, app.projectId)).toMatchObject([
    { state: 'sent', transactionHash: hash, height: null, feeUnits: null },
  ]);
  await follow(shop);
  expect((await ended(shop))[0]).toMatchObject({ id: sweep.id, state: 'mined', transactionHash: hash });
  expect(await accountedFor(shop)).toBe(0n);
});

it('what a sweep took is recorded while no check of the deposits compares, so that nothing is recorded twice', async () => {
  const shop = await sweepShop();
  const { app, chain } = shop;
  const { sweep } = await begun(shop, 1);
  await send(shop, sweep);
  await shop.mine();
  app.clock.advance(60_000);
  const following = await app.db.transaction().execute(async (trx) => {
    await lockSweeps(trx, app.projectId);
    const followed = followSweeps(app, () => chain, { limit: 10 });
    await vi.waitFor(async () => {
      const { rows } = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(app.db);
      expect(rows).toHaveLength(1);
    }, WAIT);
    return { followed };
  });
  await following.followed;
  expect((await ended(shop))[0]).toMatchObject({ id: sweep.id, state: 'mined' });
});
