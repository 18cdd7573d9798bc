import { HDKey } from '@scure/bip32';
import { onTestFinished } from 'vitest';
import { newPayment, testApp, type TestApp } from '../../../test/harness.ts';
import { startUtxoNode, type UtxoNode, type UtxoNodeKind } from '../../../test/litecoind.ts';
import { tokenOf } from '../../domain/asset.ts';
import type { Payment } from '../../domain/payment.ts';
import type { ChainSource } from '../../rails/chain.ts';
import { COINS, sourceOf } from '../../rails/utxo/source.fixture.ts';
import type { UtxoChains } from '../../rails/family.ts';
import { REGTEST_WALLETS } from '../../rails/wallet.fixture.ts';
import { fixedRates } from '../../rates/fixed.ts';
import { chainRail } from '../../modes/live-rail.ts';
import type { NewPayment } from '../payments/draft-payment.ts';
import { createChainFollower } from './follow-chain.ts';
import { runDue } from '../payments/run-due.ts';
import { setProjectWallet } from '../projects/wallets.ts';

export const REGTEST: UtxoChains = { bitcoin: 'regtest', litecoin: 'regtest' };

/** A shop that is paid on a real regtest node, followed step by step, on a clock that the test drives. */
export interface CoinShop {
  readonly app: TestApp;
  readonly node: UtxoNode;
  readonly source: ChainSource;
  /** An order of 30 USD at 100 USD a coin. */
  order(overrides?: Partial<NewPayment>): Promise<Payment & { readonly address: string }>;
  /** Follows the chain up to the node's head, and reads the mempool. */
  follow(): Promise<void>;
  /** The order's status after everything overdue is done. */
  statusOf(payment: Payment): Promise<string>;
  /** Sets the node's clock, by which its blocks are dated, `aheadMs` before the shop's. */
  setNodeClock(aheadMs: number): Promise<void>;
}

/**
 * Starts a node, whose blocks are dated an hour ago, and a shop with a wallet on it. The shop's clock shows the time of
 * day.
 */
export async function coinShop(kind: UtxoNodeKind, nodeOptions: readonly string[] = []): Promise<CoinShop> {
  const asset = COINS[kind];
  const [node, app] = await Promise.all([
    startUtxoNode({ kind, options: nodeOptions }),
    testApp({
      live: ({ db }) =>
        chainRail({
          db,
          rates: fixedRates(new Map([[asset, 10_000_000_000n]])),
          tokens: [tokenOf(asset)].filter((token) => token !== null),
          ...REGTEST_WALLETS,
          evmChain: () => null,
          payoutChain: () => 'regtest',
        }),
    }),
  ]);
  onTestFinished(() => node.stop());
  app.clock.set(Date.now());
  const setNodeClock = async (aheadMs: number): Promise<void> =>
    void (await node.rpc('setmocktime', [Math.floor((app.clock() + aheadMs) / 1_000)]));
  await setNodeClock(-3_600_000);
  await node.fund();
  const source = sourceOf(kind, [node.url]);
  const set = await setProjectWallet(
    app,
    {
      projectId: app.projectId,
      network: kind,
      source: { kind: 'descriptor', text: `wpkh(${accountKey()}/0/*)` },
      confirmations: 2,
      toleranceBasisPoints: null,
    },
    REGTEST,
  );
  if (set.kind !== 'done') throw new Error(set.code);

  return {
    app,
    node,
    source,
    setNodeClock,
    order: async (overrides = {}) => {
      const order = { mode: 'live', amountMinor: 3_000n, token: { asset, network: null }, ...overrides } as const;
      const payment = await app.pay(newPayment(app.projectId, order));
      if (payment.quote === null) throw new Error('the order has no quote');
      return { ...payment, address: payment.quote.address };
    },
    follow: async () => {
      // A new one each time, because a follower waits after reading the mempool.
      const follower = createChainFollower(app, source);
      while ((await follower.follow()) !== 'at_head');
    },
    statusOf: async ({ id }) => {
      await runDue(app, 100);
      return (await app.read(id)).status;
    },
  };
}

/** The public key of a fresh account, as regtest writes it. */
function accountKey(): string {
  const seed = crypto.getRandomValues(new Uint8Array(32));
  return HDKey.fromMasterSeed(seed, { private: 0x04358394, public: 0x043587cf }).derive("m/84'/1'/0'")
    .publicExtendedKey;
}
