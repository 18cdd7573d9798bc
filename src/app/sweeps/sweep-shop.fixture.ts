import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { STRANGER } from '../../../test/deposits/chain.ts';
import { NO_REPORTS } from '../../domain/trouble.ts';
import { createEvmCaller } from '../../rails/evm/caller.ts';
import { MAIN_CHAINS } from '../../rails/utxo/params.ts';
import { CHAIN_ID, etherShop, OWED_WEI, type EtherShop } from '../chains/follow-chain.fixture.ts';
import { setProjectWallet } from '../projects/wallets.ts';
import type { SweepChain } from './chain.ts';

/** A shop whose orders are paid to deposit contracts on a real node. */
export interface SweepShop extends EtherShop {
  readonly chain: SweepChain;
  readonly treasury: string;
  /** Orders of 30 USD, paid in full and confirmed; their addresses. */
  paidDeposits(count: number): Promise<readonly string[]>;
  /** Sends a call without mining it, from somebody who has no part in it; the transaction's hash. */
  send(call: { readonly to: string; readonly data: string }): Promise<string>;
  /** In wei, after the newest block. */
  treasuryBalance(): Promise<bigint>;
}

/** The node takes balances and sweeps of ether, and of the tokens that are given. */
export async function sweepShop(tokens: SweepChain['tokens'] = new Map()): Promise<SweepShop> {
  const shop = await etherShop({ wallet: false });
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
  if (outcome.kind !== 'done') throw new Error(outcome.message);
  const nodes = { network: 'ethereum', urls: [anvil.url], chainId: CHAIN_ID } as const;
  const caller = createEvmCaller({ ...nodes, timeoutMs: 5_000, troubles: NO_REPORTS });
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
    send: async ({ to, data }) =>
      String(await anvil.rpc('eth_sendTransaction', [{ from: STRANGER, to, data, gas: '0x7a1200' }])),
    treasuryBalance: async () => BigInt(String(await anvil.rpc('eth_getBalance', [treasury, 'latest']))),
  };
}
