import { expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { depositAddress, FIRST_DEPOSIT_FACTORY } from '../../rails/evm/deposit.ts';
import { NO_REPORTS } from '../../domain/problems.ts';
import { transfersOfSweeps } from '../../store/sweeps/sweep-transfers.ts';
import { openSweeps } from '../../store/sweeps/sweeps.ts';
import { OWED_WEI } from '../chains/follow-chain.fixture.ts';
import { isKnownBy } from './chain.ts';
import { checkDeposits } from './check-deposits.ts';
import { ASKED_MS, LOST_MS } from './follow-sweeps.ts';
import { depositsOverview } from './overview.ts';
import { refreshDeposits } from './refresh-deposits.ts';
import { beginSweep, giveUpSweep, sweepSent } from './send-sweep.ts';
import {
  accountedFor,
  begin,
  begun,
  deployFactory,
  deposits,
  ended,
  follow,
  network,
  send,
  sweepShop,
  tokenShop,
} from './sweep-shop.fixture.ts';

it('deposits are swept by the calls of the page, each offered once, to the last unit and at the price of then', async () => {
  const shop = await sweepShop();
  const { app } = shop;
  const addresses = await shop.paidDeposits(2);
  expect((await deposits(shop)).check).toBeNull();
  await checkDeposits(app, shop.chain, app.projectId);
  const first = await deposits(shop);
  expect(first.balances.map(({ address, units, usdCents }) => [address, units, usdCents])).toEqual(
    addresses.map((address) => [address, OWED_WEI, 3_000n]),
  );
  expect(first.calls.map(({ call, isReady }) => [call.purpose, isReady])).toEqual([
    ['deploy_factory', true],
    ['sweep', false],
  ]);
  const early = await beginSweep(app, { projectId: app.projectId, network, key: first.calls[1]?.key ?? '' });
  expect(early).toMatchObject({ code: 'no_factory' });

  const deploy = await begin(shop);
  expect((await deposits(shop)).calls.map(({ call }) => call.purpose)).toEqual(['sweep']);
  await send(shop, deploy);
  await shop.mine();
  await follow(shop, 2_000);
  const offered = await deposits(shop);
  expect(offered.calls.map(({ call, isReady }) => [call.purpose, isReady])).toEqual([['sweep', true]]);

  const key = offered.calls[0]?.key ?? '';
  const both = await Promise.all([1, 2].map(() => beginSweep(app, { projectId: app.projectId, network, key })));
  expect(both.map(({ kind }) => kind).toSorted()).toEqual(['done', 'rejected']);
  expect(await deposits(shop)).toMatchObject({ balances: [], calls: [], underWay: [{}, {}] });
  const [sweep] = await openSweeps(app.db, app.projectId);
  if (sweep === undefined) throw new Error('no sweep was begun');
  const hash = await send(shop, sweep);
  await follow(shop, 2_000);
  expect(await openSweeps(app.db, app.projectId)).toMatchObject([{ state: 'seen', transactionHash: hash }]);

  await shop.mine();
  await follow(shop);
  const [mined] = await ended(shop);
  expect(mined).toMatchObject({ state: 'mined', transactionHash: hash, problem: null, treasury: expect.any(String) });
  expect(mined?.feeUnits).toBeGreaterThan(0n);
  expect(mined?.feeUsdCents).not.toBeNull();
  const took = (await transfersOfSweeps(app.db, [sweep.id])).get(sweep.id);
  expect(took).toMatchObject(
    addresses.map((address) => ({ address, units: OWED_WEI, state: 'mined', usdCents: 3_000n })),
  );
  expect(await shop.treasuryBalance()).toBe(2n * OWED_WEI);
  expect(await accountedFor(shop)).toBe(0n);
  expect(await deposits(shop)).toMatchObject({ balances: [], calls: [], underWay: [] });
  await checkDeposits(app, shop.chain, app.projectId);
  expect(await ended(shop)).toHaveLength(2);
  await shop.mine(64);
  await follow(shop);
  expect((await ended(shop)).every(({ finalAt, checkAt }) => finalAt !== null && checkAt === null)).toBe(true);
});

it('what was declined, never heard of, lost or refused by the chain is offered again, and says why', async () => {
  const shop = await sweepShop();
  const { app } = shop;
  await shop.paidDeposits(1);
  await deployFactory(shop);
  const projectId = app.projectId;
  const declined = await begin(shop);
  expect(await giveUpSweep(app, { projectId, id: declined.id })).toMatchObject({ kind: 'done' });
  const silent = await begin(shop);
  await follow(shop, ASKED_MS);
  const lost = await begin(shop);
  await sweepSent(app, { projectId, id: lost.id }, { hash: `0x${'ab'.repeat(32)}`, sender: null });
  expect(await giveUpSweep(app, { projectId, id: lost.id })).toMatchObject({ code: 'sweep_sent' });
  await follow(shop, LOST_MS);
  const reverted = await begin(shop);
  const data = `${reverted.callData?.slice(0, 10)}${'0'.repeat(64)}${reverted.callData?.slice(74)}`;
  const hash = await shop.send({ to: reverted.callTo ?? '', data });
  await sweepSent(app, { projectId, id: reverted.id }, { hash, sender: null });
  await shop.mine();
  await follow(shop);
  const rows = await app.db.selectFrom('sweeps').select(['id', 'state', 'problem']).execute();
  const problems = new Map(rows.map(({ id, state, problem }) => [id, `${state} ${problem}`]));
  // Sweeps that were never sent are only in the audit log.
  expect((await ended(shop)).map(({ id }) => id)).not.toContain(declined.id);
  expect(problems.get(declined.id)).toBe('ended declined');
  expect(problems.get(silent.id)).toBe('ended silent');
  expect(problems.get(lost.id)).toBe('ended lost');
  expect(problems.get(reverted.id)).toBe('failed reverted');
  expect((await deposits(shop)).calls).toMatchObject([{ isReady: true }]);
  expect(await accountedFor(shop)).toBe(OWED_WEI);
});

it('a hash that no node has ever known is replaced by another one; one that a node knows is not', async () => {
  const shop = await sweepShop();
  const { app, chain } = shop;
  const { sweep, key } = await begun(shop, 1);
  const isKnown = (_: string, hash: string) => isKnownBy(chain, hash);
  const [wrong, another] = ['ab', 'cd'].map((digits) => `0x${digits.repeat(32)}`);
  expect(await sweepSent(app, key, { hash: wrong ?? '', sender: null }, isKnown)).toMatchObject({ kind: 'done' });
  await follow(shop, 2_000);
  expect(await sweepSent(app, key, { hash: null, sender: null }, isKnown)).toMatchObject({ code: 'sweep_known' });
  const hash = await shop.send({ to: sweep.callTo ?? '', data: sweep.callData ?? '' });
  expect(await sweepSent(app, key, { hash, sender: null }, isKnown)).toMatchObject({
    kind: 'done',
    sweep: { state: 'sent', transactionHash: hash },
  });
  const log = await app.db.selectFrom('audit_log').select(['action', 'before', 'after']).orderBy('id').execute();
  expect(log.at(-1)).toMatchObject({
    action: 'sweep.send',
    before: { transaction_hash: wrong },
    after: { transaction_hash: hash },
  });
  // The node has it, though nobody has followed it yet.
  const late = { hash: another ?? '', sender: null };
  expect(await sweepSent(app, key, late, isKnown)).toMatchObject({ code: 'sweep_known' });
  await follow(shop, LOST_MS);
  // Also when it is dropped: it may come back.
  await shop.anvil.rpc('anvil_dropTransaction', [hash]);
  expect(await sweepSent(app, key, late, isKnown)).toMatchObject({ code: 'sweep_known' });
  expect(await giveUpSweep(app, key)).toMatchObject({ code: 'sweep_known' });
});

it('a sweep whose hash no node knows for minutes can be given up, when nobody follows it too, and is offered again', async () => {
  const shop = await sweepShop();
  const { app } = shop;
  await shop.paidDeposits(1);
  await deployFactory(shop);
  const key = { projectId: app.projectId, id: (await begin(shop)).id };
  await sweepSent(app, key, { hash: `0x${'ab'.repeat(32)}`, sender: null });
  app.clock.advance(LOST_MS - 1);
  expect(await giveUpSweep(app, key)).toMatchObject({ code: 'sweep_sent' });
  expect((await deposits(shop)).calls).toEqual([]);
  app.clock.advance(1);
  expect(await giveUpSweep(app, key)).toMatchObject({ kind: 'done', sweep: { state: 'ended', problem: 'lost' } });
  expect((await deposits(shop)).calls).toMatchObject([{ isReady: true }]);
});

it('one transaction counts for one sweep, and a hash that comes twice changes nothing', async () => {
  const shop = await sweepShop();
  const { app } = shop;
  await shop.paidDeposits(1);
  await deployFactory(shop);
  const [{ transactionHash: other } = {}] = await ended(shop);
  const sweep = await begin(shop);
  const key = { projectId: app.projectId, id: sweep.id };
  expect(await sweepSent(app, key, { hash: other ?? null, sender: null })).toMatchObject({ code: 'sweep_hash_taken' });
  const hash = await send(shop, sweep);
  expect(await sweepSent(app, key, { hash, sender: null })).toMatchObject({ kind: 'done' });
  const another = `0x${'cd'.repeat(32)}`;
  await follow(shop, 2_000);
  expect(await sweepSent(app, key, { hash: another, sender: null })).toMatchObject({ code: 'sweep_known' });
});

it('a refresh asks once for a project at a time, and says of each network why nothing was found out', async () => {
  const shop = await sweepShop();
  const { app, chain } = shop;
  await shop.paidDeposits(1);
  const refresh = (caller: typeof chain.caller) =>
    refreshDeposits(app, () => ({ ...chain, caller }), NO_REPORTS, app.projectId);
  const others: Promise<string>[] = [];
  // The other one comes while this one asks.
  const head = async () => {
    if (others.length === 0) others.push(refresh(chain.caller));
    await Promise.all(others);
    return chain.caller.head();
  };
  expect(await refresh({ ...chain.caller, head })).toBe('done');
  expect(await Promise.all(others)).toEqual(['busy']);
  expect(await deposits(shop)).toMatchObject({ balances: [{ units: OWED_WEI }], check: { problem: null } });
  app.clock.advance(60_000);
  expect(await refreshDeposits(app, () => null, NO_REPORTS, app.projectId)).toBe('done');
  expect(await deposits(shop)).toMatchObject({ balances: [{ units: OWED_WEI }], check: { problem: 'no_node' } });
});

it('a check that a clock dated a day ahead keeps nobody from checking once the clock is right', async () => {
  const shop = await sweepShop();
  const { app, chain } = shop;
  const refresh = () => refreshDeposits(app, () => chain, NO_REPORTS, app.projectId);
  app.clock.advance(86_400_000);
  await refresh();
  app.clock.advance(-86_400_000);
  await shop.paidDeposits(1);
  await refresh();
  expect(await deposits(shop)).toMatchObject({ balances: [{ units: OWED_WEI }] });
});

it('nothing of another project is swept or shown', async () => {
  const shop = await sweepShop();
  await shop.paidDeposits(1);
  await checkDeposits(shop.app, shop.chain, shop.app.projectId);
  const other = randomBytes(16)
    .toString('hex')
    .replace(/(.{8})(.{4}).(.{3}).(.{3})(.{12})/, '$1-$2-7$3-8$4-$5');
  expect(await depositsOverview(shop.app.db, other, 0n)).toEqual([]);
  const sweep = await deployFactory(shop).then(() => begin(shop));
  expect(await giveUpSweep(shop.app, { projectId: other, id: sweep.id })).toMatchObject({ code: 'no_sweep' });
});

it('a sweep takes coins and tokens at once, from deposits of both factories, each by a call of its own', async () => {
  const { shop, token } = await tokenShop();
  const { app, anvil } = shop;
  const order = await shop.order();
  const { address_index: index } = await app.db
    .selectFrom('payment_addresses')
    .select('address_index')
    .where('payment_id', '=', order.id)
    .executeTakeFirstOrThrow();
  const older = depositAddress(shop.treasury, index ?? 0, FIRST_DEPOSIT_FACTORY).toLowerCase();
  await app.db.updateTable('payment_addresses').set({ address: older }).where('payment_id', '=', order.id).execute();
  await anvil.transfer(older, OWED_WEI);
  const [newer = ''] = await shop.paidDeposits(1);
  for (const address of [older, newer]) await token.transfer(address, 1_234_567n);
  await shop.advance();
  await checkDeposits(app, shop.chain, app.projectId);
  const offered = await deposits(shop);
  expect(offered.calls.map(({ call }) => call.purpose)).toEqual(['deploy_factory', 'sweep', 'deploy_factory', 'sweep']);
  for (let left = offered.calls.length; left > 0; left -= 1) {
    await send(shop, await begin(shop));
    await shop.mine();
    await follow(shop, 2_000);
  }
  expect((await ended(shop)).map(({ state, purpose }) => `${purpose} ${state}`)).toEqual([
    'sweep mined',
    'deploy_factory mined',
    'sweep mined',
    'deploy_factory mined',
  ]);
  const sweeps = (await ended(shop)).filter(({ purpose }) => purpose === 'sweep');
  const took = [
    ...(
      await transfersOfSweeps(
        app.db,
        sweeps.map(({ id }) => id),
      )
    ).values(),
  ].flat();
  const all = took.map(({ address, asset, units, usdCents }) => [address, asset, units, usdCents]);
  for (const address of [older, newer]) {
    expect(all).toContainEqual([address, 'ETH', OWED_WEI, 3_000n]);
    // There is no price of it here.
    expect(all).toContainEqual([address, 'USDT', 1_234_567n, null]);
  }
  expect(await shop.treasuryBalance()).toBe(2n * OWED_WEI);
  expect((await deposits(shop)).balances).toEqual([]);
});
