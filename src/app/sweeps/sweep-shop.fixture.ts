import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { STRANGER } from '../../../test/deposits/chain.ts';
import { deployToken } from '../../../test/erc20.ts';
import { NO_REPORTS } from '../../domain/problems.ts';
import { createEvmCaller } from '../../rails/evm/caller.ts';
import { MAIN_CHAINS } from '../../rails/utxo/params.ts';
import type { Network } from '../../domain/networks.ts';
import type { Rail } from '../../modes/rail.ts';
import type { Database } from '../../store/database.ts';
import { depositFlows } from '../../store/sweeps/deposit-balances.ts';
import { endedSweeps, type Sweep } from '../../store/sweeps/sweeps.ts';
import { CHAIN_ID, etherShop, OWED_WEI, type EtherShop } from '../chains/follow-chain.fixture.ts';
import { setProjectWallet } from '../projects/wallets.ts';
import type { SweepChain } from './chain.ts';
import { checkDeposits } from './check-deposits.ts';
import { followSweeps } from './follow-sweeps.ts';
import { depositsOverview } from './overview.ts';
import { beginSweep, sweepSent } from './send-sweep.ts';

export const network = 'ethereum' satisfies Network;

/** A shop whose orders are paid to deposit contracts on a real node. */
export interface SweepShop extends EtherShop {
  readonly chain: SweepChain;
  readonly treasury: string;
  /** Orders of 30 USD, paid in full and confirmed; their addresses. */
  paidDeposits(count: number): Promise<readonly string[]>;
  /** Sends a call without mining it, from somebody who has no part in it; the transaction's hash. */
  send(call: { readonly to: string; readonly data: string }, gas?: bigint): Promise<string>;
  /** In wei, after the newest block. */
  treasuryBalance(): Promise<bigint>;
}

/** The node takes balances and sweeps of ether and of the tokens that are given; orders are in ether unless given. */
export async function sweepShop(
  tokens: SweepChain['tokens'] = new Map(),
  rail?: (db: Database) => Rail,
): Promise<SweepShop> {
  const shop = await etherShop({ wallet: false, ...(rail && { rail }) });
  const { app, anvil } = shop;
  const treasury = `0x${randomBytes(20).toString('hex')}`;
  const source = { kind: 'treasury', text: treasury } as const;
  const wallet = {
    projectId: app.projectId,
    network: 'ethereum',
    source,
    confirmations: 1,
    toleranceBasisPoints: null,
  };
  const outcome = await setProjectWallet(app, wallet, MAIN_CHAINS);
  if (outcome.kind !== 'done') throw new Error(outcome.code);
  const nodes = { network: 'ethereum', urls: [anvil.url], chainId: CHAIN_ID } as const;
  const caller = createEvmCaller({ ...nodes, timeoutMs: 5_000, problems: NO_REPORTS });
  onTestFinished(() => caller.close());
  await shop.advance();
  return {
    ...shop,
    chain: { network: 'ethereum', chainId: CHAIN_ID, tokens, caller },
    treasury,
    paidDeposits: async (count) => {
      const orders = [];
      for (let made = 0; made < count; made += 1) orders.push(await shop.order());
      for (const { address } of orders) await anvil.transfer(address, OWED_WEI);
      await shop.advance(2);
      return orders.map(({ address }) => address.toLowerCase());
    },
    send: async ({ to, data }, gas = 8_000_000n) =>
      String(await anvil.rpc('eth_sendTransaction', [{ from: STRANGER, to, data, gas: `0x${gas.toString(16)}` }])),
    treasuryBalance: async () => BigInt(String(await anvil.rpc('eth_getBalance', [treasury, 'latest']))),
  };
}

/** A shop whose deposits hold USDT too, which has no price here. */
export async function tokenShop() {
  const tokens = new Map<'USDT', { contract: string; decimals: number }>();
  const shop = await sweepShop(tokens);
  const token = await deployToken(shop.anvil, 'ordinary');
  tokens.set('USDT', { contract: token.address, decimals: 6 });
  return { shop, token };
}

/** The plan of the only network. */
export async function deposits({ app }: SweepShop, minUsdCents = 0n) {
  const [found] = await depositsOverview(app.db, app.projectId, minUsdCents);
  if (found === undefined) throw new Error('no network has deposits');
  return found;
}

/** Takes a call of the plan for a wallet. */
export async function begin(shop: SweepShop, at = 0): Promise<Sweep> {
  const { app } = shop;
  const key = (await deposits(shop)).calls[at]?.key ?? '';
  const outcome = await beginSweep(app, { projectId: app.projectId, network, key });
  if (outcome.kind !== 'done') throw new Error(outcome.code);
  return outcome.sweep;
}

/** A sweep of so many paid deposits, its factory on the chain; and how it is named. */
export async function begun(shop: SweepShop, count: number) {
  await shop.paidDeposits(count);
  await deployFactory(shop);
  const sweep = await begin(shop);
  return { sweep, key: { projectId: shop.app.projectId, id: sweep.id } };
}

/** Sends what a sweep is to send, unmined, and returns its hash. */
export async function send(shop: SweepShop, { id, callTo, callData }: Sweep): Promise<string> {
  const { app } = shop;
  const hash = await shop.send({ to: callTo ?? '', data: callData ?? '' });
  const outcome = await sweepSent(app, { projectId: app.projectId, id }, { hash, sender: null });
  if (outcome.kind !== 'done') throw new Error(outcome.code);
  return hash;
}

/** A sweep that is mined, and whose hash nobody has given. */
export async function unreported(shop: SweepShop, count: number) {
  const { sweep, key } = await begun(shop, count);
  const hash = await shop.send({ to: sweep.callTo ?? '', data: sweep.callData ?? '' });
  await shop.mine();
  return { sweep, key, hash };
}

/** A sweep that a node has and that is not mined. */
export async function waiting(shop: SweepShop, count: number) {
  const { sweep } = await begun(shop, count);
  const hash = await send(shop, sweep);
  await follow(shop, 2_000);
  return { sweep, hash };
}

/** Follows what is due after a while. */
export async function follow({ app, chain }: SweepShop, afterMs = 60_000): Promise<void> {
  app.clock.advance(afterMs);
  await followSweeps(app, () => chain, { limit: 10 });
}

/** The factory is put on the chain, so that what follows is the sweep itself. */
export async function deployFactory(shop: SweepShop): Promise<void> {
  await checkDeposits(shop.app, shop.chain, shop.app.projectId);
  await send(shop, await begin(shop));
  await shop.mine();
  await follow(shop, 2_000);
}

/** The newest first. */
export const ended = ({ app }: SweepShop) => endedSweeps(app.db, app.projectId, { after: null, limit: 10 });

/** The arrivals at deposits, less the sweeps: the amount that must be there. */
export async function accountedFor({ app }: SweepShop): Promise<bigint> {
  const flows = await depositFlows(app.db, app.projectId, network);
  return flows.flatMap(({ steps }) => steps).reduce((sum, { units }) => sum + units, 0n);
}
