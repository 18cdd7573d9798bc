import { chooseChangeIndex, lastIndex } from '../../domain/change-index.ts';
import { encodeId } from '../../domain/id.ts';
import { formatDecimal } from '../../domain/money.ts';
import { NETWORK_FACTS, settingOf } from '../../domain/networks.ts';
import type { Refund } from '../../domain/refund.ts';
import type { Outpoint, UtxoCaller } from '../../rails/utxo/caller.ts';
import { scriptOfAddress, type WalletOutput } from '../../rails/utxo/output.ts';
import type { UtxoParams } from '../../rails/utxo/params.ts';
import { buildRefundPsbt, dustPayout, shortMessage } from '../../rails/utxo/psbt.ts';
import { parseUtxoWallet, type UtxoDeriver } from '../../rails/utxo/wallet.ts';
import {
  openChange,
  refundChange,
  saveChangeWatch,
  saveRefundChange,
  seenChange,
  watchChange,
} from '../../store/change.ts';
import { readCursor } from '../../store/chain.ts';
import type { Trx } from '../../store/database.ts';
import { saveRawTransactions } from '../../store/raw-transactions.ts';
import {
  heldByOthers,
  lockWalletCoins,
  refundInputs,
  refundWallet,
  saveRefundInputs,
  spentByPayouts,
  walletCoins,
  type CoinQuery,
  type RefundWallet,
  type WalletCoin,
} from '../../store/refund-coins.ts';
import { payoutOf, type RefundPayout } from '../../store/refund-payouts.ts';
import { lockRefund } from '../../store/refunds.ts';
import { watchChain } from './change-watch.ts';
import type { App } from '../context.ts';
import { chooseCoins, MAX_COINS, type ChosenCoin, type CoinChoice } from './refund-coins.ts';

/** A network of the UTXO family: nodes that know which outputs are unspent, and the fee rate that is too high. */
export interface UtxoAccess {
  readonly params: UtxoParams;
  readonly caller: UtxoCaller;
  /** In the smallest units per virtual byte. */
  readonly maxFeeRate: number;
}

export type PsbtAdvice =
  | {
      readonly kind: 'ok';
      readonly psbt: string;
      readonly feeUnits: bigint;
      readonly changeUnits: bigint;
      /** What to know before signing it. */
      readonly warnings: readonly string[];
    }
  /** Why there is no PSBT, and what to do instead. */
  | { readonly kind: 'none'; readonly message: string }
  /** The refund seems to be paid: nobody must pay it again. */
  | { readonly kind: 'paid'; readonly message: string };

/** Other refunds of the same wallet that are shown at this moment may take the same outputs first. */
const MAX_ATTEMPTS = 5;
/** From this share of the refund on, the fee is mentioned in a warning. */
const HIGH_FEE_PERCENT = 10n;

/**
 * The transaction that pays a refund, for the merchant's own wallet to sign. Its inputs are reserved for this refund,
 * which shows them again while they are unspent. Throws `ChainUnavailableError` when no node answers.
 */
export async function refundPsbt(app: App, refund: Refund, address: string, access: UtxoAccess): Promise<PsbtAdvice> {
  const { params, caller, maxFeeRate } = access;
  const stored = await refundWallet(app.db, refund.paymentId, refund.network);
  const wallet = stored === null ? null : openWallet(params, stored);
  if (stored === null || wallet === null) return instead('The wallet that the payment went to is not known.');
  const change = wallet.changeAt(0);
  if (change === null) {
    return instead(
      'Where its change goes is not known: the wallet was not given with its change chain, as in "/<0;1>/*".',
    );
  }
  const dust = dustPayout(params, { address, units: refund.units });
  if (dust !== null) return instead(dust.message);
  const feeUnitsPerKvb = await caller.feeUnitsPerKvb();
  if (feeUnitsPerKvb > BigInt(maxFeeRate) * 1_000n) return instead(feeTooHigh(params, feeUnitsPerKvb, maxFeeRate));
  const { network, paymentId } = refund;
  const changeAt = (index: number): WalletOutput => wallet.changeAt(index) ?? change;
  // The chain's follower may not have run since the wallet was set.
  await watchChain(app, network, (index) => changeAt(index).address, await seenChange(app.db, network, change.address));
  await saveChangeWatch(app.db, network, stored, change.address);
  const payScript = scriptOfAddress(params, address);
  const payout = { network: params.network, payUnits: refund.units, payScript, change, feeUnitsPerKvb };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const query = {
      refundId: refund.id,
      paymentId,
      network,
      firstAddress: stored.firstAddress,
      firstChangeAddress: change.address,
      now: app.clock(),
    };
    const coins = await walletCoins(app.db, query, MAX_COINS);
    const before = await refundInputs(app.db, refund.id);
    const held = await stillHeld(app, refund, caller, coins, before);
    if (held.kind !== 'ok') return held;
    const choice = await chooseCoins(
      app,
      { network, caller, payout },
      held.coins,
      coins.filter(({ isHeld }) => !isHeld),
    );
    const { outcome } = choice;
    if (outcome.kind !== 'ok') return instead(shortOf(params, choice, outcome, coins.length));
    const changeIndex = await hold(app, query, changeAt, before, outcome.chosen);
    if (changeIndex === null) continue;
    const inputs = outcome.chosen.map(({ coin, rawTransaction }) => ({
      ...coin,
      output: coin.isChange ? changeAt(coin.index) : wallet.outputAt(coin.index),
      rawTransaction,
    }));
    const payTo = { address, units: refund.units };
    const built = buildRefundPsbt({ params, inputs, payTo, change: changeAt(changeIndex), feeUnitsPerKvb });
    if (built.kind !== 'ok') return instead(built.message);
    return { ...built, warnings: [...held.warnings, ...warningsOf(outcome.chosen, built.feeUnits, refund.units)] };
  }
  return instead('Other refunds of this wallet are being shown at this moment. Show this one again.');
}

function instead(message: string): PsbtAdvice {
  return { kind: 'none', message: `${message} Pay by the payment URI instead.` };
}

function openWallet(params: UtxoParams, { kind, source }: RefundWallet): UtxoDeriver | null {
  if (kind === 'treasury') return null;
  const parsed = parseUtxoWallet(params, { kind, text: source });
  return parsed.kind === 'ok' ? parsed.deriver : null;
}

/**
 * The reserved inputs that are still unspent. If one is spent, it may well have paid the refund: until blocks show by
 * what, there is nothing to sign, because a second transaction with other inputs would pay the customer twice.
 */
async function stillHeld(
  app: App,
  { id, network }: Refund,
  caller: UtxoCaller,
  coins: readonly WalletCoin[],
  before: readonly Outpoint[],
): Promise<
  | { readonly kind: 'ok'; readonly coins: readonly WalletCoin[]; readonly warnings: readonly string[] }
  | Extract<PsbtAdvice, { kind: 'paid' }>
> {
  const states = await caller.unspent(before);
  const unspent = before.filter((_, place) => (states[place] ?? null) !== null);
  const held = coins.filter((coin) => unspent.some((one) => isOutput(coin, one)));
  if (held.length < unspent.length) {
    const message =
      'What this refund is to spend is not confirmed any more, because blocks were taken back. Show the refund again once it is.';
    return { kind: 'paid', message };
  }
  if (unspent.length === before.length) return { kind: 'ok', coins: held, warnings: [] };
  const gone = before.filter((one) => !unspent.includes(one));
  const inBlocks = await caller.unspent(gone, { inBlocks: true });
  if (inBlocks.some((state) => state !== null)) {
    const message =
      'What this refund was to spend is being spent by a transaction that waits to be mined. If it pays this refund, nothing is left to sign: ' +
      'raise its fee in your wallet if it takes too long. If it does not, show the refund again once it is mined.';
    return { kind: 'paid', message };
  }
  const height = await caller.height();
  const cursor = await readCursor(app.db, network);
  if (cursor === null || cursor.height < height) {
    const message =
      'What this refund was to spend is spent, and the newest blocks, which say by what, were not taken in yet. Show the refund again in a moment, while the service runs.';
    return { kind: 'paid', message };
  }
  const payout = await payoutOf(app.db, id);
  if (payout !== null && payout.state !== 'dropped') return { kind: 'paid', message: paidBy(payout) };
  const paidOthers = await spentByPayouts(app.db, id, network, gone);
  if (paidOthers.length === gone.length) return { kind: 'ok', coins: held, warnings: [] };
  const warning =
    'What this refund was shown with before was spent by a transaction that does not pay exactly its amount. If that paid the customer all the same, cancel the refund and do not sign this one.';
  return { kind: 'ok', coins: held, warnings: [warning] };
}

/** What to say about a refund whose payout is unmined or has too few confirmations. */
export function paidBy({ transactionHash, state }: RefundPayout): string {
  return state === 'block'
    ? `The refund is paid by ${transactionHash}, and completes when that has enough confirmations. Nothing is left to sign.`
    : `The refund is being paid by ${transactionHash}, which waits to be mined. Nothing is left to sign: raise its fee in your wallet if it takes too long.`;
}

/** Saves the transaction's inputs and change address; null if another refund took some of the inputs meanwhile. */
async function hold(
  app: App,
  query: CoinQuery,
  changeAt: (index: number) => WalletOutput,
  expected: readonly Outpoint[],
  chosen: readonly ChosenCoin[],
): Promise<number | null> {
  const { refundId, network } = query;
  return app.db.transaction().execute(async (trx) => {
    await lockWalletCoins(trx, network, query.firstAddress);
    const refund = await lockRefund(trx, refundId);
    const before = await refundInputs(trx, refundId);
    const isSame = before.length === expected.length && before.every((one) => expected.some((it) => isOutput(one, it)));
    if (refund?.status !== 'pending' || !isSame) return null;
    const free = chosen.map(({ coin }) => coin).filter(({ isHeld, heldBy }) => !isHeld && heldBy.length === 0);
    if ((await heldByOthers(trx, query, free)).length > 0) return null;
    const spends = chosen.map(({ coin }) => coin);
    await saveRefundInputs(trx, refundId, network, spends);
    // Shown again, it must be able to spend the same inputs, even if the node has pruned the block meanwhile.
    if (changeAt(0).scriptType === 'p2pkh') {
      const whole = chosen.map(
        ({ coin, rawTransaction }) => [coin.txid, Buffer.from(rawTransaction ?? '', 'hex')] as const,
      );
      await saveRawTransactions(trx, network, new Map(whole));
    }
    return holdChange(trx, query, changeAt);
  });
}

/** The same change address again, unless it was paid meanwhile. */
async function holdChange(trx: Trx, query: CoinQuery, changeAt: (index: number) => WalletOutput): Promise<number> {
  const { refundId, network, firstChangeAddress } = query;
  const seen = await seenChange(trx, network, firstChangeAddress);
  const before = await refundChange(trx, network, firstChangeAddress, refundId);
  if (before !== null && !seen.has(before) && before <= lastIndex(seen)) return before;
  const open = await openChange(trx, network, firstChangeAddress, query);
  const index = chooseChangeIndex({ seen, open });
  const { address } = changeAt(index);
  await watchChange(trx, [{ network, address, firstChangeAddress, index }]);
  await saveRefundChange(trx, refundId, network, address);
  return index;
}

function isOutput(one: Outpoint, { txid, vout }: Outpoint): boolean {
  return one.txid === txid && one.vout === vout;
}

function feeTooHigh({ network }: UtxoParams, feeUnitsPerKvb: bigint, maxFeeRate: number): string {
  const unit = NETWORK_FACTS[network].smallestUnit;
  const rate = formatDecimal(feeUnitsPerKvb, 3);
  return (
    `The node asks for a fee rate of ${rate} ${unit}/vB, more than the ${maxFeeRate} ${unit}/vB that MAX_FEE_RATE allows. ` +
    'Show the refund again when fees are lower, or raise MAX_FEE_RATE if the rate is right.'
  );
}

function shortOf(
  { network }: UtxoParams,
  { immature, withoutTransaction }: CoinChoice,
  outcome: Exclude<CoinChoice['outcome'], { kind: 'ok' }>,
  coinsRead: number,
): string {
  if (outcome.kind === 'too_large') {
    return `The refund would have to spend more than ${outcome.coinCount - 1} small outputs, which is too large a transaction for nodes to pass on. Join some of them in your wallet first, or refund less.`;
  }
  const [soonest] = immature.toSorted((a, b) => a.needed - a.confirmations - (b.needed - b.confirmations));
  if (soonest !== undefined) {
    const { coin, what, confirmations, needed } = soonest;
    const left = needed - confirmations;
    const is = { coinbase: "a miner's reward", pegout: 'paid out of MWEB' }[what];
    return (
      `The coin ${coin.txid}:${coin.vout} is not mature: it is ${is}, which can be spent after ${needed} confirmations and has ${confirmations}. ` +
      `What else can be spent falls short. Show the refund again in ${left} ${left === 1 ? 'block' : 'blocks'}, ${about(left * NETWORK_FACTS[network].blockMs)}.`
    );
  }
  const [lacking] = withoutTransaction;
  if (lacking !== undefined) {
    const setting = settingOf(network, 'RPC_URL');
    return (
      `A wallet signs for a P2PKH address only with the whole transaction that paid it, and no node has ${lacking.txid} any more: block ${lacking.blockHeight} was pruned. ` +
      `Add a node that still has block ${lacking.blockHeight}, such as one that is not pruned, to ${setting}.`
    );
  }
  const some = coinsRead < MAX_COINS ? '' : ` Only ${MAX_COINS} outputs of the wallet were looked at.`;
  return `${shortMessage(network, outcome.missingUnits)}${some}`;
}

function about(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 120 ? `about ${minutes} minutes` : `about ${Math.ceil(minutes / 60)} hours`;
}

function warningsOf(chosen: readonly ChosenCoin[], feeUnits: bigint, units: bigint): readonly string[] {
  const shared = [...new Set(chosen.flatMap(({ coin }) => coin.heldBy))].map((id) => encodeId('refund', id));
  const percent = (feeUnits * 100n) / units;
  return [
    ...(shared.length === 0
      ? []
      : [
          `It spends what ${shared.join(', ')} ${shared.length === 1 ? 'was' : 'were'} shown with too, because nothing else is left: only one of them can be sent. ` +
            'Send one, and show the others again when it is confirmed.',
        ]),
    ...(percent < HIGH_FEE_PERCENT ? [] : [`The fee is ${percent} % of the refund.`]),
  ];
}
