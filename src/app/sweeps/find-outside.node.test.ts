import { describe, expect, it, onTestFinished } from 'vitest';
import { forwardTo, type NodeAnswer } from '../../../test/rpc-node.ts';
import { NO_REPORTS } from '../../domain/problems.ts';
import { createEvmCaller } from '../../rails/evm/caller.ts';
import { nodeThat } from '../../rails/evm/source.fixture.ts';
import { transfersOfSweeps } from '../../store/sweeps/sweep-transfers.ts';
import { askUnknownAgain, openSweeps } from '../../store/sweeps/sweeps.ts';
import { CHAIN_ID, OWED_WEI } from '../chains/follow-chain.fixture.ts';
import { checkDeposits } from './check-deposits.ts';
import { sweepSent } from './send-sweep.ts';
import { STRANGER } from '../../../test/deposits/chain.ts';
import { ASKED_MS } from './follow-sweeps.ts';
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
  unreported,
  waiting,
  type SweepShop,
} from './sweep-shop.fixture.ts';

/** The recorded transfers of a sweep from each deposit. */
async function recorded({ app }: SweepShop, id: string) {
  const rows = (await transfersOfSweeps(app.db, [id])).get(id) ?? [];
  return rows.map(({ state, units }) => [state, units]);
}

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

it('what left when no node remembers it is recorded without a transaction, and asked again until it is known', async () => {
  const shop = await sweepShop();
  const { app } = shop;
  await shop.paidDeposits(1);
  await deployFactory(shop);
  const hash = await shop.send((await deposits(shop)).calls[0]?.call ?? { to: '', data: '' });
  await shop.mine();
  const forgetful = await chainThat(shop, () => ({ error: { code: -32_000, message: 'missing trie node 12ab' } }));
  await checkDeposits(app, forgetful, app.projectId);
  await checkDeposits(app, forgetful, app.projectId);
  const unknown = { source: 'chain', transactionHash: null, minedAt: null, feeUnits: null };
  expect(await ended(shop)).toMatchObject([unknown, { purpose: 'deploy_factory' }]);
  const { chain } = shop;
  // Each time after as long as it has been known, at most six hours.
  for (const afterMs of [0, 60_000, 60_000, 120_000, 7 * 3_600_000])
    await follow({ ...shop, chain: forgetful }, afterMs);
  expect((await ended(shop))[0]).toMatchObject({ ...unknown, checkAt: app.clock() + 6 * 3_600_000 });
  expect(await accountedFor(shop)).toBe(0n);
  await follow({ ...shop, chain: await chainThat(shop, () => ({ status: 503, text: '' })) }, 6 * 3_600_000).catch(
    () => null,
  );
  expect((await ended(shop))[0]).toMatchObject(unknown);
  // The state that former versions stored.
  await app.db.updateTable('sweeps').set({ check_at: null }).execute();
  await askUnknownAgain(app.db, app.clock());
  await follow(shop, 0);
  await checkDeposits(app, chain, app.projectId);
  await follow(shop);
  expect(await ended(shop)).toMatchObject([
    { source: 'chain', transactionHash: hash, minedAt: expect.any(Number), feeUnits: expect.any(BigInt) },
    { purpose: 'deploy_factory' },
  ]);
  expect(await accountedFor(shop)).toBe(0n);
});

/** The shop's chain by way of a node that answers questions about past states as told; null: as it is. */
async function chainThat(shop: SweepShop, past: () => NodeAnswer | null): Promise<SweepShop['chain']> {
  const head = await shop.chain.caller.head();
  const node = await nodeThat((call) => {
    const at = call.method === 'eth_getBalance' && Array.isArray(call.params) ? Number(call.params[1]) : NaN;
    return (at < head ? past() : null) ?? forwardTo(shop.anvil.url, call);
  });
  const nodes = { network: 'ethereum', urls: [node.url], chainId: CHAIN_ID } as const;
  const caller = createEvmCaller({ ...nodes, timeoutMs: 5_000, problems: NO_REPORTS });
  onTestFinished(() => caller.close());
  return { ...shop.chain, caller };
}

it.each([
  ['status 503', { status: 503, text: '' }],
  ['too many requests', { error: { code: -32_005, message: 'too many requests' } }],
  ['an internal error', { error: { code: -32_603, message: 'internal error' } }],
])('a node that answers %s about the past leaves what left a deposit to the next check', async (_name, refusal) => {
  const shop = await sweepShop();
  const { app, chain } = shop;
  await shop.paidDeposits(1);
  await deployFactory(shop);
  const hash = await shop.send((await deposits(shop)).calls[0]?.call ?? { to: '', data: '' });
  await shop.mine(20);
  await checkDeposits(app, await chainThat(shop, () => refusal), app.projectId);
  expect(await ended(shop)).toMatchObject([{ purpose: 'deploy_factory' }]);
  expect(await accountedFor(shop)).toBe(OWED_WEI);
  await checkDeposits(app, chain, app.projectId);
  expect(await ended(shop)).toMatchObject([{ state: 'mined', transactionHash: hash }, { purpose: 'deploy_factory' }]);
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

it('what a check finds of a transaction that is recorded takes the place of what was recorded, and is not added', async () => {
  const shop = await sweepShop();
  const { app, anvil, chain } = shop;
  const { sweep } = await begun(shop, 2);
  await send(shop, sweep);
  await shop.mine();
  const [, late = ''] = (await deposits(shop)).underWay.map(({ address }) => address);
  await anvil.transfer(late, 5n);
  await shop.advance();
  const { balanceAt } = chain.caller;
  const forgetful: typeof balanceAt = (address, token, height) =>
    address === late ? Promise.resolve(null) : balanceAt(address, token, height);
  await follow({ ...shop, chain: { ...chain, caller: { ...chain.caller, balanceAt: forgetful } } });
  expect(await recorded(shop, sweep.id)).toEqual([
    ['mined', OWED_WEI],
    ['failed', OWED_WEI],
  ]);
  await shop.advance(3);
  await checkDeposits(app, chain, app.projectId);
  await Promise.all([follow(shop), ...[1, 2].map(() => checkDeposits(app, chain, app.projectId))]);
  expect(await recorded(shop, sweep.id)).toEqual([
    ['mined', OWED_WEI],
    ['mined', OWED_WEI],
  ]);
  expect(await accountedFor(shop)).toBe(5n);
});

it('a check that compared before a sweep was recorded, and one that compares while it is, record it once', async () => {
  const { shop, token } = await tokenShop();
  const { app, chain } = shop;
  for (const address of await shop.paidDeposits(2)) await token.transfer(address, 30_000_000n);
  await shop.advance();
  await deployFactory(shop);
  const sweep = await begin(shop);
  await send(shop, sweep);
  await shop.mine(3);
  const check = (caller: SweepShop['chain']['caller']) => checkDeposits(app, { ...chain, caller }, app.projectId);
  const { gasPrice, block } = chain.caller;
  // The price of gas is asked for after a check has compared, and the block before what a sweep took is recorded.
  const checking: typeof block = (height) => check(chain.caller).then(() => block(height));
  const following = follow({ ...shop, chain: { ...chain, caller: { ...chain.caller, block: checking } } });
  await check({ ...chain.caller, gasPrice: () => following.then(gasPrice) });
  await check(chain.caller);
  const each = [
    ['mined', OWED_WEI],
    ['mined', 30_000_000n],
  ];
  expect(await recorded(shop, sweep.id)).toEqual([...each, ...each]);
  expect(await ended(shop)).toMatchObject([{ id: sweep.id, state: 'mined' }, { purpose: 'deploy_factory' }]);
  // This shop takes in no tokens, so that those that left alone are in its books.
  expect(await accountedFor(shop)).toBe(-60_000_000n);
});

it('a sweep that a reorganisation moves to an earlier block is recorded once, also when a check sees it there first', async () => {
  const shop = await sweepShop();
  const { app, anvil, chain } = shop;
  const { sweep } = await begun(shop, 2);
  const back = await shop.checkpoint();
  await shop.mine(3);
  const hash = await send(shop, sweep);
  await shop.mine();
  await follow(shop);
  const raw = await anvil.rpc('eth_getRawTransactionByHash', [hash]);
  const [before] = await ended(shop);
  await back();
  await anvil.rpc('eth_sendRawTransaction', [raw]);
  await shop.mine();
  await checkDeposits(app, chain, app.projectId);
  const once = [1, 2].map(() => ['mined', OWED_WEI]);
  expect(await recorded(shop, sweep.id)).toEqual(once);
  await Promise.all([follow(shop), ...[1, 2].map(() => checkDeposits(app, chain, app.projectId))]);
  expect(await recorded(shop, sweep.id)).toEqual(once);
  expect(await ended(shop)).toMatchObject([{ height: (before?.height ?? 0) - 3 }, { purpose: 'deploy_factory' }]);
  expect(await accountedFor(shop)).toBe(0n);
});

it('a check that finds the very call that a wallet was asked for gives that sweep its transaction, and its hash may follow', async () => {
  const shop = await sweepShop();
  const { app, chain } = shop;
  const { sweep, key, hash } = await unreported(shop, 2);
  await Promise.all([1, 2].map(() => checkDeposits(app, chain, app.projectId)));
  await checkDeposits(app, chain, app.projectId);
  const mined = { id: sweep.id, source: 'dashboard', state: 'mined', transactionHash: hash };
  expect(await ended(shop)).toMatchObject([mined, { purpose: 'deploy_factory' }]);
  expect(await sweepSent(app, key, { hash, sender: null })).toMatchObject({ kind: 'done', sweep: mined });
  expect(await recorded(shop, sweep.id)).toEqual([1, 2].map(() => ['mined', OWED_WEI]));
  expect(await accountedFor(shop)).toBe(0n);
});

it('a hash that comes after its transaction was found makes one sweep of both; that of other deposits is refused', async () => {
  const shop = await sweepShop();
  const { app, chain } = shop;
  const { sweep, key } = await begun(shop, 1);
  await follow(shop, ASKED_MS);
  const hash = await shop.send({ to: sweep.callTo ?? '', data: sweep.callData ?? '' });
  await shop.mine();
  await checkDeposits(app, chain, app.projectId);
  await follow(shop);
  const [found] = await ended(shop);
  if (found === undefined) throw new Error('the check found no sweep');
  expect(await ended(shop)).toMatchObject([{ source: 'chain' }, { purpose: 'deploy_factory' }]);
  await shop.paidDeposits(1);
  await checkDeposits(app, chain, app.projectId);
  const other = await begin(shop);
  const otherKey = { projectId: app.projectId, id: other.id };
  expect(await sweepSent(app, otherKey, { hash, sender: null })).toMatchObject({ code: 'sweep_hash_taken' });
  const { height, blockHash, feeUnits, minedAt } = found;
  const merged = { id: sweep.id, source: 'dashboard', state: 'mined', height, blockHash, feeUnits, minedAt };
  expect(await sweepSent(app, key, { hash, sender: null })).toMatchObject({ kind: 'done', sweep: merged });
  expect(await ended(shop)).toMatchObject([{ ...merged, problem: null }, { purpose: 'deploy_factory' }]);
  expect(await recorded(shop, sweep.id)).toEqual([['mined', OWED_WEI]]);
  await checkDeposits(app, chain, app.projectId);
  expect(await accountedFor(shop)).toBe(OWED_WEI);
});

it('a sweep that its wallet sped up goes on with the transaction that was mined instead', async () => {
  const shop = await sweepShop();
  const { app, anvil, chain } = shop;
  const { sweep, key } = await begun(shop, 1);
  const call = { from: STRANGER, to: sweep.callTo, data: sweep.callData, gas: '0x7a1200' };
  const nonce = await anvil.rpc('eth_getTransactionCount', [STRANGER, 'latest']);
  const sendAt = async (gasPrice: string) =>
    String(await anvil.rpc('eth_sendTransaction', [{ ...call, nonce, gasPrice }]));
  const slow = await sendAt('0x77359400');
  await sweepSent(app, key, { hash: slow, sender: STRANGER.toLowerCase() });
  await follow(shop, 2_000);
  expect(await openSweeps(app.db, app.projectId)).toMatchObject([{ state: 'seen', transactionHash: slow }]);
  const fast = await sendAt('0x174876e800');
  await shop.mine();
  await checkDeposits(app, chain, app.projectId);
  expect(await openSweeps(app.db, app.projectId)).toEqual([]);
  expect(await ended(shop)).toMatchObject([
    { id: sweep.id, source: 'dashboard', state: 'mined', transactionHash: fast },
    { purpose: 'deploy_factory' },
  ]);
  expect(await accountedFor(shop)).toBe(0n);
});

it('a hash of something else moved nothing and cost this project nothing', async () => {
  const shop = await sweepShop();
  const { app, anvil } = shop;
  const { key } = await begun(shop, 1);
  const hash = await anvil.transfer(shop.treasury, 1n);
  await sweepSent(app, key, { hash, sender: null });
  await shop.mine();
  await follow(shop);
  const foreign = { state: 'failed', problem: 'paid_nothing', gasUsed: null, feeUnits: null, feeUsdCents: null };
  expect((await ended(shop))[0]).toMatchObject(foreign);
});

it('what was recorded without a transaction is not recorded a second time when its hash comes', async () => {
  const shop = await sweepShop();
  const { app, chain } = shop;
  const { sweep, key, hash } = await unreported(shop, 2);
  await follow(shop, ASKED_MS);
  const balanceAt = () => Promise.resolve(null);
  await checkDeposits(app, { ...chain, caller: { ...chain.caller, balanceAt } }, app.projectId);
  expect(await ended(shop)).toMatchObject([{ source: 'chain', transactionHash: null }, { purpose: 'deploy_factory' }]);
  expect(await sweepSent(app, key, { hash, sender: null })).toMatchObject({ kind: 'done' });
  await follow(shop, 2_000);
  await checkDeposits(app, chain, app.projectId);
  expect(await ended(shop)).toMatchObject([{ id: sweep.id, state: 'mined' }, { purpose: 'deploy_factory' }]);
  expect(await accountedFor(shop)).toBe(0n);
});

it('what a wrapped call takes is left to the sweep that is under way, and recorded once', async () => {
  const shop = await sweepShop();
  const { app, chain } = shop;
  const { sweep, hash } = await waiting(shop, 2);
  await shop.mine();
  // A contract wallet sends the call: no transaction of the block goes to the factory itself.
  const block: typeof chain.caller.block = async (height) => {
    const found = await chain.caller.block(height);
    return found === null ? null : { ...found, transactions: found.transactions.map((one) => ({ ...one, to: null })) };
  };
  const wrapped = { ...chain, caller: { ...chain.caller, block } };
  await checkDeposits(app, wrapped, app.projectId);
  await Promise.all([follow({ ...shop, chain: wrapped }), checkDeposits(app, wrapped, app.projectId)]);
  await checkDeposits(app, wrapped, app.projectId);
  expect(await ended(shop)).toMatchObject([
    { id: sweep.id, state: 'mined', transactionHash: hash, feeUnits: expect.any(BigInt) },
    { purpose: 'deploy_factory' },
  ]);
  expect(await recorded(shop, sweep.id)).toEqual([1, 2].map(() => ['mined', OWED_WEI]));
  expect(await accountedFor(shop)).toBe(0n);
});

describe('a hash that was given for another sweep by mistake', () => {
  const mistaken = async () => {
    const shop = await sweepShop();
    const { app, chain } = shop;
    const { sweep, key } = await begun(shop, 1);
    await shop.paidDeposits(1);
    await checkDeposits(app, chain, app.projectId);
    const other = await begin(shop);
    const hash = await shop.send({ to: sweep.callTo ?? '', data: sweep.callData ?? '' });
    await shop.mine();
    await sweepSent(app, { projectId: app.projectId, id: other.id }, { hash, sender: null });
    await follow(shop, 2_000);
    expect(await ended(shop)).toMatchObject([{ id: other.id, problem: 'paid_nothing' }, { purpose: 'deploy_factory' }]);
    return { shop, sweep, key, other, hash };
  };
  /** The records of both after another check. */
  const outcome = async ({ shop, sweep, other }: Awaited<ReturnType<typeof mistaken>>) => {
    const { app, chain } = shop;
    for (let checks = 0; checks < 2; checks += 1) {
      await checkDeposits(app, chain, app.projectId);
      await follow(shop, 2_000);
    }
    const found = await ended(shop);
    const of = (id: string) => found.find((one) => one.id === id);
    return {
      sweep: of(sweep.id),
      other: of(other.id),
      count: found.length,
      took: await recorded(shop, sweep.id),
      left: await accountedFor(shop),
    };
  };
  const right = (hash: string) => ({
    sweep: { state: 'mined', transactionHash: hash },
    other: { state: 'failed', transactionHash: null },
    count: 3,
    took: [['mined', OWED_WEI]],
    // The other sweep's deposits are still there.
    left: OWED_WEI,
  });

  it('is taken for the sweep that it is', async () => {
    const all = await mistaken();
    const { shop, key, hash } = all;
    expect(await sweepSent(shop.app, key, { hash, sender: null })).toMatchObject({ kind: 'done' });
    expect(await outcome(all)).toMatchObject(right(hash));
  });

  it('is found by a check for the sweep that it is', async () => {
    const all = await mistaken();
    expect(await outcome(all)).toMatchObject(right(all.hash));
  });
});

it('money whose block was replaced, and never came, is not taken for swept by a check that comes before the follower', async () => {
  const shop = await sweepShop();
  const { app, anvil, chain } = shop;
  const { address } = await shop.order();
  const back = await shop.checkpoint();
  await anvil.transfer(address, OWED_WEI);
  await shop.advance(3);
  await back();
  await shop.mine(5);
  await checkDeposits(app, chain, app.projectId);
  expect(await ended(shop)).toEqual([]);
  await shop.advance(1);
  await checkDeposits(app, chain, app.projectId);
  expect(await ended(shop)).toEqual([]);
  expect(await accountedFor(shop)).toBe(0n);
});
