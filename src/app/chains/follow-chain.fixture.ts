import { pbkdf2Sync } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { onTestFinished } from 'vitest';
import { ANVIL_MNEMONIC, startAnvil, type Anvil } from '../../../test/anvil.ts';
import { newPayment, testApp, type TestApp } from '../../../test/harness.ts';
import { tokenOf } from '../../domain/asset.ts';
import type { Payment } from '../../domain/payment.ts';
import type { ChainSource } from '../../rails/chain.ts';
import { createEvmSource } from '../../rails/evm/source.ts';
import { MAIN_CHAINS } from '../../rails/utxo/params.ts';
import { MAIN_WALLETS } from '../../rails/wallet.fixture.ts';
import { fixedRates } from '../../rates/fixed.ts';
import type { NewPayment } from '../payments/draft-payment.ts';
import { chainRail } from '../../modes/live-rail.ts';
import { selectToken } from '../payments/payment-actions.ts';
import { createChainFollower, type Followed } from './follow-chain.ts';
import type { AwaitPoll } from '../refunds/unread-money.ts';
import type { Rail } from '../../modes/rail.ts';
import type { RateSource } from '../../rates/source.ts';
import type { Database } from '../../store/database.ts';
import { setProjectWallet } from '../projects/wallets.ts';
import { NO_REPORTS, type Problems } from '../../domain/problems.ts';

export const CHAIN_ID = 31_337;
/** Ethereum's time between blocks. */
export const BLOCK_MS = 12_000;
/** The amount owed by an order of `shop.order()`: 30 USD at 3,000 USD per ether. */
export const OWED_WEI = 10n ** 16n;
/** Confirmations of a shop's wallet. */
export const CONFIRMATIONS = 3;

// BIP 39: the seed is PBKDF2 of the phrase, its salt the word "mnemonic".
const master = HDKey.fromMasterSeed(pbkdf2Sync(ANVIL_MNEMONIC, 'mnemonic', 2048, 64, 'sha512'));

/** The BIP 44 account of a wallet; number 0 holds anvil's rich accounts, so shops use others. */
export function account(number = 1): HDKey {
  return master.derive(`m/44'/60'/${number}'`);
}

export function xpubOf(key: HDKey): string {
  return key.publicExtendedKey;
}

export function etherSource(
  urls: readonly string[],
  chainId: number = CHAIN_ID,
  problems: Problems = NO_REPORTS,
): ChainSource {
  return createEvmSource({
    network: 'ethereum',
    nativeAsset: 'ETH',
    tokens: new Map(),
    urls,
    chainId,
    timeoutMs: 5_000,
    problems,
  });
}

/** A shop that is paid in ether on a real node. The test drives its blocks and time. */
export interface EtherShop {
  readonly app: TestApp;
  readonly anvil: Anvil;
  readonly source: ChainSource;
  /** An order of 30 USD, its address that of the payment. */
  order(overrides?: Partial<NewPayment>): Promise<Payment & { readonly address: string }>;
  /**
   * Mines blocks, 12 seconds apart unless said otherwise, the first with the waiting transactions; the clock goes
   * along.
   */
  mine(count?: number, apartMs?: number): Promise<void>;
  /** Follows the chain up to the node's head; returns the steps. */
  follow(source?: ChainSource): Promise<readonly Followed[]>;
  /** Follows the chain at once, for a cancellation that waits for that. */
  readonly poll: AwaitPoll;
  /** Mines blocks and follows them. */
  advance(count?: number, apartMs?: number): Promise<void>;
  /** Sends wei in one block of its own and follows it; returns the transaction's hash. */
  pay(address: string, wei: bigint): Promise<string>;
  /** Takes a snapshot of the chain; calling the result removes all later blocks with their transactions. */
  checkpoint(): Promise<() => Promise<void>>;
  cursorHeight(): Promise<number | null>;
}

interface EtherShopOptions {
  /** False: none is set. */
  readonly wallet?: boolean;
  /** The default offers only ether. */
  readonly rail?: (db: Database) => Rail;
}

/** Starts a node and an application with a wallet of `CONFIRMATIONS` on it. */
export async function etherShop(options: EtherShopOptions = {}): Promise<EtherShop> {
  const ofEther = (db: Database): Rail => etherRail(db, fixedRates(new Map([['ETH', 300_000_000_000n]])));
  const rail = options.rail ?? ofEther;
  const [anvil, app] = await Promise.all([startAnvil({ manualMining: true }), testApp({ live: ({ db }) => rail(db) })]);
  onTestFinished(() => anvil.stop());
  const source = etherSource([anvil.url]);
  const genesis = await source.block(0);
  app.clock.set((genesis?.timeMs ?? 0) + BLOCK_MS);
  if (options.wallet !== false) await setWallet(app, app.projectId);

  const follow = async (from = source): Promise<readonly Followed[]> => {
    const follower = createChainFollower(app, from);
    const steps: Followed[] = [];
    for (;;) {
      const step = await follower.follow();
      if (step === 'at_head') return steps;
      steps.push(step);
    }
  };
  const mine = async (count = 1, apartMs = BLOCK_MS): Promise<void> => {
    app.clock.advance(apartMs);
    await anvil.rpc('evm_setNextBlockTimestamp', [Math.floor(app.clock() / 1_000)]);
    await anvil.rpc('anvil_mine', [count, apartMs / 1_000]);
    app.clock.advance(apartMs * (count - 1));
  };
  return {
    app,
    anvil,
    source,
    mine,
    follow,
    poll: async () => {
      await follow();
      return true;
    },
    advance: async (count, apartMs) => {
      await mine(count, apartMs);
      await follow();
    },
    order: async (overrides = {}) => {
      const payment = await app.pay(liveOrder(app.projectId, overrides));
      if (payment.quote === null) throw new Error('the order has no quote');
      return { ...payment, address: payment.quote.address };
    },
    pay: async (address, wei) => {
      const hash = await anvil.transfer(address, wei);
      await mine();
      await follow();
      return hash;
    },
    checkpoint: async () => {
      const snapshot = await anvil.rpc('evm_snapshot');
      return async () => {
        await anvil.rpc('evm_revert', [snapshot]);
      };
    },
    cursorHeight: async () => {
      const row = await app.db.selectFrom('chain_cursors').select('height').executeTakeFirst();
      return row?.height ?? null;
    },
  };
}

/** A shop whose order is paid in a block that nobody has followed yet. */
export async function paidUnfollowed() {
  const shop = await etherShop();
  const order = await shop.order();
  await shop.follow();
  await shop.anvil.transfer(order.address, OWED_WEI);
  await shop.mine();
  return { shop, order };
}

/** An order whose token was chosen again for another wallet, and its second quote. */
export async function quotedTwice(shop: EtherShop) {
  const order = await shop.order();
  await setWallet(shop.app, shop.app.projectId, xpubOf(account(2)));
  await selectToken(shop.app, { id: order.id }, { asset: 'ETH', network: null });
  const { quote } = await shop.app.read(order.id);
  if (quote === null) throw new Error('the order has no quote');
  return { first: order, second: quote };
}

/** A rail of ether alone. */
export function etherRail(db: Database, rates: RateSource, evmChain: Rail['evmChain'] = () => null): Rail {
  const ether = tokenOf('ETH', 'ethereum');
  if (ether === null) throw new Error('there is no ether');
  return chainRail({
    db,
    rates,
    tokens: [ether],
    ...MAIN_WALLETS,
    evmChain,
    payoutChain: () => 'main',
  });
}

/** A live order of 30 USD in ether. */
export function liveOrder(projectId: string, overrides: Partial<NewPayment> = {}): NewPayment {
  return newPayment(projectId, {
    mode: 'live',
    amountMinor: 3_000n,
    token: { asset: 'ETH', network: null },
    ...overrides,
  });
}

/** Sets a wallet; throws when it is refused. */
export async function setWallet(
  app: TestApp,
  projectId: string,
  xpub: string = xpubOf(account()),
  confirmations: number | null = CONFIRMATIONS,
): Promise<void> {
  const source = { kind: 'xpub', text: xpub } as const;
  const request = { projectId, network: 'ethereum', source, confirmations, toleranceBasisPoints: null };
  const outcome = await setProjectWallet(app, request, MAIN_CHAINS);
  if (outcome.kind !== 'done') throw new Error(outcome.code);
}

/** The types of a payment's events, in the order of their numbers. Fails when a number is missing or used twice. */
export async function eventsOf(app: TestApp, paymentId: string): Promise<readonly string[]> {
  const rows = await app.db.selectFrom('events').select('body').where('payment_id', '=', paymentId).execute();
  const events = rows
    .map(({ body }) => JSON.parse(body) as { readonly type: string; readonly sequence: number })
    .toSorted((a, b) => a.sequence - b.sequence);
  if (events.some((event, index) => event.sequence !== index + 1)) throw new Error('events are not numbered 1, 2, …');
  return events.map((event) => event.type);
}

/** The transitions that a payment went through, as `pending processing`. */
export async function transitionsOf(app: TestApp, paymentId: string): Promise<readonly string[]> {
  const rows = await app.db
    .selectFrom('payment_arrows')
    .select(['from_status', 'to_status'])
    .where('payment_id', '=', paymentId)
    .orderBy('id')
    .execute();
  return rows.map((row) => `${row.from_status} ${row.to_status}`);
}
