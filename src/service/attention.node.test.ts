import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { ANVIL_ACCOUNT } from '../../test/anvil.ts';
import { forwardTo, startNode } from '../../test/rpc-node.ts';
import { CHAIN_ID, etherShop, etherSource, OWED_WEI, type EtherShop } from '../app/chains/follow-chain.fixture.ts';
import { attentionItems, type AttentionItem } from '../app/dashboard/attention.ts';
import { createServiceHealth } from '../app/dashboard/health.ts';
import { createKey } from '../app/projects/keys.ts';
import { sweepOverview } from '../app/projects/sweep.ts';
import { setProjectWallet } from '../app/projects/wallets.ts';
import { CUSTOMER, etherRefund, paidOrder } from '../app/refunds/refund-ether.fixture.ts';
import { NO_REPORTS } from '../domain/problems.ts';
import { createEvmCaller } from '../rails/evm/caller.ts';
import { MAIN_CHAINS } from '../rails/utxo/params.ts';
import { saveNodes } from '../store/chains/chain.ts';
import { depositAddress } from '../rails/evm/deposit.ts';
import { saveDepositCheck } from '../store/sweeps/deposit-balances.ts';
import { createSweepWatch, sweepsWorth } from './sweeps.ts';

/** The items that need attention in live mode, asked of the nodes now. */
async function attention({ app, anvil }: EtherShop): Promise<readonly AttentionItem[]> {
  const nodes = {
    family: 'evm',
    network: 'ethereum',
    urls: [anvil.url],
    chainId: CHAIN_ID,
    tokens: new Map(),
  } as const;
  const worth = await sweepsWorth({ app, networkConfigs: [nodes], problems: NO_REPORTS }, app.projectId);
  const sources = { serviceHealth: createServiceHealth(app, ['ethereum'], 0), sweeps: () => Promise.resolve(worth) };
  const items = await attentionItems(app, { projectId: app.projectId, mode: 'live', role: 'owner' }, sources);
  // Every wallet that is set is announced, which `test/dashboard/wallets.db.test.ts` is about.
  return items.filter(({ kind }) => kind !== 'wallet_changed');
}

const kinds = async (shop: EtherShop) => (await attention(shop)).map(({ kind }) => kind);

/** The worker's survey of the nodes. */
const survey = async ({ app, source }: EtherShop, from = source): Promise<void> =>
  saveNodes(app.db, 'ethereum', await from.checkNodes(), app.clock());

async function setTreasury({ app }: EtherShop): Promise<string> {
  const text = `0x${randomBytes(20).toString('hex')}`;
  const request = { projectId: app.projectId, network: 'ethereum', source: { kind: 'treasury', text } } as const;
  const outcome = await setProjectWallet(
    app,
    { ...request, confirmations: 3, toleranceBasisPoints: null },
    MAIN_CHAINS,
  );
  if (outcome.kind !== 'done') throw new Error(outcome.code);
  return text;
}

it('a network without a wallet needs attention until one is set, and one whose node is away until it is back', async () => {
  const shop = await etherShop({ wallet: false });
  const { app, anvil } = shop;
  await createKey(app, { projectId: app.projectId, name: 'Live', mode: 'live', kind: 'secret', permission: 'full' });
  await shop.advance();
  await survey(shop);
  expect(await attention(shop)).toMatchObject([
    {
      kind: 'no_wallet',
      subject: 'ethereum',
    },
  ]);
  await setTreasury(shop);
  expect(await kinds(shop)).toEqual([]);

  let isAway = true;
  const node = await startNode((call) => (isAway ? { status: 503, text: 'away' } : forwardTo(anvil.url, call)));
  onTestFinished(() => node.stop());
  const source = etherSource([node.url]);
  await survey(shop, source);
  expect(await attention(shop)).toMatchObject([
    {
      kind: 'node_behind',
      subject: 'ethereum',
      detail: expect.stringContaining('no node answers'),
      problemKind: 'no_answer',
    },
  ]);
  isAway = false;
  await survey(shop, source);
  expect(await kinds(shop)).toEqual([]);
});

it('what a check of the page has stored is worth a sweep at once, whenever the nodes were asked for attention before', async () => {
  const shop = await etherShop({ wallet: false });
  const { app } = shop;
  const treasury = await setTreasury(shop);
  // No network is configured: nothing but what is stored can be known.
  const watch = createSweepWatch({ app, networkConfigs: [], problems: NO_REPORTS });
  expect(await watch(app.projectId)).toEqual([]);
  const checked = (count: number) =>
    app.db.transaction().execute((trx) =>
      saveDepositCheck(trx, {
        projectId: app.projectId,
        network: 'ethereum',
        at: app.clock(),
        height: 9,
        gasPrice: 1n,
        factories: [],
        balances: Array.from({ length: count }, (_, index) => ({
          address: depositAddress(treasury, index).toLowerCase(),
          index,
          treasury,
          paymentId: app.projectId,
          token: null,
          asset: 'ETH' as const,
          units: 1n,
          usdCents: 300n,
          pricedBy: 'quote' as const,
        })),
      }),
    );
  await checked(2);
  expect(await watch(app.projectId)).toEqual([{ network: 'ethereum', newest: 1, deposits: 2, usdCents: 600n }]);
  await checked(0);
  expect(await watch(app.projectId)).toEqual([]);
});

it('a refund needs attention until what is signed pays it, and deposits until the calls of the plan sweep them', async () => {
  const shop = await etherShop({ wallet: false });
  const { app, anvil } = shop;
  const treasury = await setTreasury(shop);
  await shop.advance();
  const order = await paidOrder(shop);
  await survey(shop);
  const refund = await etherRefund(shop, order);
  const found = await attention(shop);
  expect(found).toMatchObject([
    {
      kind: 'sweep',
      usdCents: 3_000n,
      detail: '1',
    },
    {
      kind: 'refund_to_sign',
      subject: refund.id,
      money: { units: refund.units, asset: 'ETH' },
    },
  ]);
  await shop.pay(CUSTOMER, refund.units);
  expect(await kinds(shop)).toEqual(['sweep']);

  const node = { network: 'ethereum', urls: [anvil.url], chainId: CHAIN_ID } as const;
  const caller = createEvmCaller({ ...node, timeoutMs: 5_000, problems: NO_REPORTS });
  onTestFinished(() => caller.close());
  const request = { projectId: app.projectId, network: 'ethereum', tokens: new Map() } as const;
  const plan = await sweepOverview(app, request, caller, () => Promise.reject(new Error('ether was quoted')));
  if (plan.kind !== 'done') throw new Error(plan.code);
  for (const { to, data, gasLimit } of plan.calls) {
    await anvil.rpc('eth_sendTransaction', [{ from: ANVIL_ACCOUNT, to, data, gas: `0x${gasLimit.toString(16)}` }]);
    await shop.advance();
  }
  expect(BigInt(String(await anvil.rpc('eth_getBalance', [treasury, 'latest'])))).toBe(OWED_WEI);
  await survey(shop);
  expect(await kinds(shop)).toEqual([]);
});
