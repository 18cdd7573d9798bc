import type { Transaction } from '@scure/btc-signer';
import { Transaction as Psbt } from '@scure/btc-signer';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { newPayment, testApp, type TestApp } from '../../../test/harness.ts';
import { startUtxoNode, type UtxoNode, type UtxoNodeOptions } from '../../../test/litecoind.ts';
import { tokenOf } from '../../domain/asset.ts';
import { formatDecimal } from '../../domain/money.ts';
import type { Payment } from '../../domain/payment.ts';
import type { Refund } from '../../domain/refund.ts';
import { ChainUnavailableError } from '../../rails/chain.ts';
import { createUtxoCaller } from '../../rails/utxo/caller.ts';
import type { UtxoNetwork } from '../../domain/networks.ts';
import { createUtxoSource } from '../../rails/utxo/source.ts';
import { paramsOf, publicKeyAt, signAll, walletOf } from '../../rails/utxo/wallet.fixture.ts';
import type { UtxoDeriver } from '../../rails/utxo/wallet.ts';
import { REGTEST_WALLETS } from '../../rails/wallet.fixture.ts';
import { fixedRates } from '../../rates/fixed.ts';
import { chainRail } from '../../modes/live-rail.ts';
import { createChainFollower } from '../chains/follow-chain.ts';
import { inEnglish, type InEnglish } from './in-english.fixture.ts';
import type { AwaitPoll } from './unread-money.ts';
import type { PaidTogether } from './refund-held.ts';
import { instructionsFor, refundInstructions, type RefundInstructions } from './refund-instructions.ts';
import type { PsbtAdvice, UtxoAccess } from './refund-psbt.ts';
import { sendSigned, type SentOutcome } from './send-signed.ts';
import { createRefund } from './create-refund.ts';
import { setProjectWallet } from '../projects/wallets.ts';
import { NO_REPORTS } from '../../domain/problems.ts';

export const COIN = 100_000_000n;
export const CONFIRMATIONS = 2;
const ASSETS = { bitcoin: 'BTC', litecoin: 'LTC' } as const;
const CHAINS = { bitcoin: 'regtest', litecoin: 'regtest' } as const;

const FORMS = {
  p2pkh: (key: string) => `pkh(${key})`,
  p2wpkh: (key: string) => `wpkh(${key})`,
  p2tr: (key: string) => `tr(${key})`,
};

export interface RefundShop {
  readonly app: TestApp;
  readonly node: UtxoNode;
  readonly network: UtxoNetwork;
  readonly wallet: UtxoDeriver;
  /** The wallet, as a descriptor with both chains. */
  readonly descriptor: string;
  /** An order that was paid this much, in the smallest units, and is completed. */
  paid(units: bigint): Promise<Payment & { readonly address: string }>;
  /** An order that nobody has paid. */
  order(): Promise<Payment & { readonly address: string }>;
  /** A refund of part of a payment, to a fresh address of the node's wallet unless said otherwise; null: none yet. */
  request(payment: Pick<Payment, 'id'>, units: bigint, address?: string | null): Promise<Refund>;
  /** The same, once what waits in the mempool was compared with it. */
  refund(payment: Pick<Payment, 'id'>, units: bigint, address?: string): Promise<Refund>;
  show(refund: Refund, options?: ShowOptions): Promise<InEnglish<RefundInstructions>>;
  /** Shows one transaction that pays several refunds. */
  showTogether(refunds: PaidTogether, options?: ShowOptions): Promise<ShownPsbt>;
  /** Gives a signed transaction to be checked and sent. */
  send(refunds: PaidTogether, text: string, options?: ShowOptions): Promise<InEnglish<SentOutcome>>;
  /** The PSBT of a shown refund; throws where there is none. */
  psbtOf(refund: Refund, options?: ShowOptions): Promise<ShownPsbt>;
  /** The transaction signed by the merchant's wallet. */
  signed(psbt: ShownPsbt): Transaction;
  /** Signs and sends what is shown; answers with the transaction's id. */
  pay(refund: Refund): Promise<string>;
  /** Mines blocks and follows them. */
  mine(count: number): Promise<void>;
  /** Follows the chain up to the node's head. */
  follow(): Promise<void>;
  /** Follows the chain at once, for a cancellation that waits for that. */
  readonly poll: AwaitPoll;
}

export interface ShowOptions {
  readonly maxFeeRate?: number;
  /** The nodes that are asked; the shop's own unless said otherwise. */
  readonly urls?: readonly string[];
  /** Replaces the node's estimate, in the smallest units per virtual byte. */
  readonly feeRate?: number;
  /** Whether no node takes a transaction: as when the process ends, or the node does. */
  readonly isSilent?: boolean;
  /** Transactions that seem to have paid a failed refund, and did not. */
  readonly notPaidBy?: readonly string[];
}

export interface ShownPsbt extends InEnglish<Extract<PsbtAdvice, { kind: 'ok' }>> {
  readonly transaction: Transaction;
  /** The outputs that it spends, as `txid:vout`. */
  readonly spends: readonly string[];
}

/** A node with coins that can be spent, started before the tests of a `describe` and stopped after them. */
export function nodeForTests(options: UtxoNodeOptions): () => UtxoNode {
  let node: UtxoNode | null = null;
  beforeAll(async () => {
    node = await startUtxoNode(options);
    await node.mine(160);
  });
  afterAll(() => node?.stop());
  return () => {
    if (node === null) throw new Error('the node is not started before the tests are');
    return node;
  };
}

let accounts = 0;

/** A shop on a real node of regtest, with a wallet of its own and a database that goes when the test ends. */
export async function refundShop(
  node: UtxoNode,
  { form = 'p2wpkh', url = node.url }: { readonly form?: keyof typeof FORMS; readonly url?: string } = {},
): Promise<RefundShop> {
  const network = node.kind;
  const params = paramsOf(network, 'regtest');
  const token = tokenOf(ASSETS[network], network);
  if (token === null) throw new Error('the network has no coin');
  const app = await testApp({
    live: (database) =>
      chainRail({
        db: database.db,
        rates: fixedRates(new Map([[ASSETS[network], 10_000_000_000n]])),
        tokens: [token],
        ...REGTEST_WALLETS,
        evmChain: () => null,
        payoutChain: () => 'regtest',
      }),
  });
  app.clock.set(Date.now());
  accounts += 1;
  const account = `/84'/1'/${accounts}'`;
  const descriptor = FORMS[form](`[73c5da0a${account}]${publicKeyAt(`m${account}`, 'tpub')}/<0;1>/*`);
  const { deriver: wallet } = walletOf(params, 'descriptor', descriptor);
  const source = createUtxoSource({ params, asset: token.asset, urls: [url], timeoutMs: 10_000, problems: NO_REPORTS });
  onTestFinished(() => source.close());
  // Without a rest between two reads of the mempool.
  const follower = createChainFollower(app, source, null, () => 0);
  const set = await setProjectWallet(
    app,
    {
      projectId: app.projectId,
      network,
      source: { kind: 'descriptor', text: descriptor },
      confirmations: CONFIRMATIONS,
      toleranceBasisPoints: null,
    },
    CHAINS,
  );
  if (set.kind !== 'done') throw new Error(set.code);

  const follow = async (): Promise<void> => {
    while ((await follower.follow()) !== 'at_head');
  };
  const mine = async (count: number): Promise<void> => {
    await node.mine(count);
    await follow();
  };
  await follow();
  const withAccess = async <Result>(
    { maxFeeRate = 1_000, urls = [url], feeRate, isSilent = false }: ShowOptions,
    work: (access: UtxoAccess) => Promise<Result>,
  ): Promise<Result> => {
    const real = createUtxoCaller({ params, urls, timeoutMs: 10_000, problems: NO_REPORTS });
    // A chain of its own has no market for fees.
    const fees = feeRate === undefined ? {} : { feeUnitsPerKvb: async () => BigInt(feeRate) * 1_000n };
    const silence = isSilent ? { send: () => Promise.reject(new ChainUnavailableError(network, 'send', [])) } : {};
    const caller = { ...real, ...fees, ...silence };
    try {
      return await work({ params, caller, maxFeeRate });
    } finally {
      await caller.close();
    }
  };
  const show = (refund: Refund, options: ShowOptions = {}) =>
    withAccess(options, async (access) => {
      const shown = await refundInstructions(app, refund.id, () => access, options.notPaidBy ?? []);
      if (shown.kind !== 'done') throw new Error(shown.code);
      return inEnglish(shown);
    });
  const readable = (psbt: InEnglish<PsbtAdvice> | null, problem: string | null): ShownPsbt => {
    if (psbt?.kind !== 'ok') throw new Error(psbt?.message ?? problem ?? 'nothing to sign');
    const transaction = Psbt.fromPSBT(Buffer.from(psbt.psbt, 'base64'));
    const spends = Array.from({ length: transaction.inputsLength }, (_, place) => {
      const { txid, index } = transaction.getInput(place);
      return `${Buffer.from(txid ?? []).toString('hex')}:${index}`;
    });
    return { ...psbt, transaction, spends };
  };
  const psbtOf = async (refund: Refund, options?: ShowOptions): Promise<ShownPsbt> => {
    const { psbt, problem } = await show(refund, options);
    return readable(psbt, problem);
  };
  const signed = ({ transaction }: ShownPsbt): Transaction => {
    signAll(transaction);
    transaction.finalize();
    return transaction;
  };
  const order = async () => {
    const payment = await app.pay(
      newPayment(app.projectId, { mode: 'live', amountMinor: 100n, token: { asset: token.asset, network: null } }),
    );
    if (payment.quote === null) throw new Error('the order has no quote');
    return { ...payment, address: payment.quote.address };
  };
  const request: RefundShop['request'] = async ({ id }, units, address) => {
    const outcome = await createRefund(
      app,
      {
        projectId: app.projectId,
        mode: 'live',
        api: 'order',
        paymentId: id,
        wanted: { cryptoAmount: formatDecimal(units, 8) },
        address: address === undefined ? await node.newAddress() : address,
        reason: null,
      },
      null,
    );
    if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome));
    return outcome.refund;
  };
  return {
    app,
    node,
    network,
    wallet,
    descriptor,
    order,
    show,
    showTogether: (refunds, options = {}) =>
      withAccess(options, async (access) => {
        const shown = inEnglish(await instructionsFor(app, refunds, () => access));
        return readable(
          shown.psbt,
          shown.problem ?? shown.refunds.find((one) => one.problem !== null)?.problem ?? null,
        );
      }),
    send: (refunds, text, options = {}) =>
      withAccess(options, async (access) => inEnglish(await sendSigned(app, refunds, text, () => access))),
    psbtOf,
    signed,
    mine,
    follow,
    poll: async () => {
      await follow();
      return true;
    },
    paid: async (units) => {
      const payment = await order();
      await node.send(payment.address, formatDecimal(units, 8));
      await mine(CONFIRMATIONS);
      return { ...(await app.read(payment.id)), address: payment.address };
    },
    request,
    refund: async (...wanted) => {
      const refund = await request(...wanted);
      await follow();
      return refund;
    },
    pay: async (refund) => String(await node.rpc('sendrawtransaction', [signed(await psbtOf(refund)).hex])),
  };
}
