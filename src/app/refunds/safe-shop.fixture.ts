import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { contractOf, deployContract, type DeployedContract } from '../../../test/erc20.ts';
import { formatDecimal } from '../../domain/money.ts';
import type { Refund } from '../../domain/refund.ts';
import { ChainUnavailableError, type ChainSource, type NativeBalances } from '../../rails/chain.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { CONFIRMATIONS, etherShop, OWED_WEI, type EtherShop } from '../chains/follow-chain.fixture.ts';
import { createChainFollower } from '../chains/follow-chain.ts';
import { showEther } from './refund-ether.fixture.ts';
import { createRefund } from './create-refund.ts';

export const PART = OWED_WEI / 4n;
export const AWAY = new ChainUnavailableError('ethereum', 'eth_call', []);

export interface SafeShop extends EtherShop {
  /** A contract that pays like a Safe. */
  readonly safe: DeployedContract;
  /** A refund of a quarter of an order that was paid, unless another amount is given. */
  refund(address?: string, units?: bigint): Promise<Refund & { readonly address: string }>;
  statusOf(refund: Refund): Promise<unknown>;
  warningsOf(refund: Refund): Promise<readonly string[]>;
}

export const freshAddress = (): string => `0x${randomBytes(20).toString('hex')}`;

export async function safeShop(): Promise<SafeShop> {
  const shop = await etherShop();
  const { app, anvil } = shop;
  const safe = await deployContract(anvil, contractOf('Payers.sol', 'Payer'));
  await shop.advance();
  const order = await shop.order();
  await shop.pay(order.address, OWED_WEI);
  await shop.advance(CONFIRMATIONS);
  expect(await app.read(order.id)).toMatchObject({ status: 'completed' });
  return {
    ...shop,
    safe,
    refund: async (address = freshAddress(), units = PART) => {
      const { projectId, mode, api, id: paymentId } = order;
      const wanted = { cryptoAmount: formatDecimal(units, 18) };
      const request = { projectId, mode, api, paymentId, wanted, address, reason: null };
      const made = await createRefund(app, request, null);
      if (made.kind !== 'done') throw new Error(JSON.stringify(made));
      expect(made.refund.units).toBe(units);
      return { ...made.refund, address };
    },
    statusOf: async ({ id }) => (await findRefund(app.db, id))?.status,
    warningsOf: async (refund) => (await showEther(shop, refund)).warnings,
  };
}

/** The source with other answers about what contracts pay. */
export function sourceWith(
  { source }: EtherShop,
  change: (native: NativeBalances) => Partial<NativeBalances>,
): ChainSource {
  const { native } = source;
  if (!native) throw new Error('the source has no native asset');
  return { ...source, native: { ...native, ...change(native) } };
}

export const traceless = (shop: EtherShop): ChainSource =>
  sourceWith(shop, () => ({ internalTransfers: () => Promise.resolve(null) }));

/** Mines a contract's payment of a part to the refund's address; returns the hash of its transaction. */
export async function minePayout(shop: SafeShop, { address }: { readonly address: string }): Promise<string> {
  const hash = await shop.safe.send('pay', [address], { valueWei: PART });
  await shop.mine();
  return hash;
}

/** A follower of a source, which remembers what it read. */
export function followerOf(shop: EtherShop, source: ChainSource): () => Promise<void> {
  const follower = createChainFollower(shop.app, source);
  return async () => {
    while ((await follower.follow()) !== 'at_head');
  };
}
