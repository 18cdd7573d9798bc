import { expect, it } from 'vitest';
import { transfersOfSweeps } from '../../store/sweep-transfers.ts';
import { openSweeps } from '../../store/sweeps.ts';
import { OWED_WEI } from '../chains/follow-chain.fixture.ts';
import { checkDeposits } from './check-deposits.ts';
import { sweepSent } from './send-sweep.ts';
import { accountedFor, begun, deployFactory, deposits, ended, follow, sweepShop } from './sweep-shop.fixture.ts';

it('a sweep with a wrong hash ends with the transaction that swept its deposits', async () => {
  const shop = await sweepShop();
  const { app, chain } = shop;
  const { sweep, key } = await begun(shop, 2);
  await sweepSent(app, key, { hash: `0x${'ab'.repeat(32)}`, sender: null });
  const hash = await shop.send({ to: sweep.callTo ?? '', data: sweep.callData ?? '' });
  await shop.mine();
  await Promise.all([1, 2].map(() => checkDeposits(app, chain, app.projectId)));
  await checkDeposits(app, chain, app.projectId);
  expect(await openSweeps(app.db, app.projectId)).toEqual([]);
  expect(await ended(shop)).toMatchObject([
    { id: sweep.id, source: 'dashboard', state: 'mined', problem: null, transactionHash: hash },
    { purpose: 'deploy_factory' },
  ]);
  const took = (await transfersOfSweeps(app.db, [sweep.id])).get(sweep.id);
  expect(took).toMatchObject([1, 2].map(() => ({ state: 'mined', units: OWED_WEI, usdCents: 3_000n })));
  expect(await accountedFor(shop)).toBe(0n);
});

it('sweeps that others sent are found by what is missing: the transaction, what each took, and no deposit twice', async () => {
  const shop = await sweepShop();
  const { app, chain } = shop;
  await shop.paidDeposits(3);
  await deployFactory(shop);
  const { calls } = await deposits(shop);
  const [call] = calls;
  const hash = await shop.send(call?.call ?? { to: '', data: '' });
  await shop.mine();
  await shop.mine(20);
  await Promise.all([1, 2].map(() => checkDeposits(app, chain, app.projectId)));
  await checkDeposits(app, chain, app.projectId);
  const [found, ...more] = await ended(shop);
  expect(more).toHaveLength(1);
  expect(found).toMatchObject({ source: 'chain', state: 'mined', transactionHash: hash, personId: null });
  const took = (await transfersOfSweeps(app.db, [found?.id ?? ''])).get(found?.id ?? '');
  expect(took?.map(({ units, usdCents }) => [units, usdCents])).toEqual([1, 2, 3].map(() => [OWED_WEI, 3_000n]));
  expect(await accountedFor(shop)).toBe(0n);
  await follow(shop);
  expect((await ended(shop))[0]).toMatchObject({ state: 'mined', feeUnits: expect.any(BigInt) });
});

it('what left when no node remembers it is recorded without a transaction', async () => {
  const shop = await sweepShop();
  const { app, chain } = shop;
  const [address = ''] = await shop.paidDeposits(1);
  await shop.anvil.rpc('anvil_setBalance', [address, '0x0']);
  await shop.mine();
  const forgetful = {
    ...chain,
    caller: { ...chain.caller, balanceAt: () => Promise.reject(new Error('missing trie node')) },
  };
  await checkDeposits(app, forgetful, app.projectId);
  await checkDeposits(app, forgetful, app.projectId);
  expect(await ended(shop)).toMatchObject([{ source: 'chain', transactionHash: null, minedAt: null, checkAt: null }]);
  expect(await accountedFor(shop)).toBe(0n);
});

it('a call that failed in the same block is not taken for the one that swept the deposits', async () => {
  const shop = await sweepShop();
  const { app, anvil, chain } = shop;
  await shop.paidDeposits(1);
  await deployFactory(shop);
  const call = (await deposits(shop)).calls[0]?.call ?? { to: '', data: '' };
  const failed = await shop.send(call, 60_000n);
  const hash = await shop.send(call);
  await shop.mine();
  expect(await anvil.rpc('eth_getTransactionReceipt', [failed])).toMatchObject({ status: '0x0' });
  await checkDeposits(app, chain, app.projectId);
  await follow(shop);
  await checkDeposits(app, chain, app.projectId);
  expect(await ended(shop)).toMatchObject([
    { source: 'chain', state: 'mined', transactionHash: hash },
    { purpose: 'deploy_factory' },
  ]);
  expect(await accountedFor(shop)).toBe(0n);
});
