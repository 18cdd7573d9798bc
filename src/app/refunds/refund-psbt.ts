import { encodeId } from '../../domain/id.ts';
import { inARow, sentence, type Sentence } from '../../domain/sentence.ts';
import type { UtxoCaller } from '../../rails/utxo/caller.ts';
import type { WalletOutput } from '../../rails/utxo/output.ts';
import type { UtxoParams } from '../../rails/utxo/params.ts';
import { buildRefundPsbt, dustPayout, paidBy } from '../../rails/utxo/psbt.ts';
import { parseUtxoWallet, type UtxoDeriver } from '../../rails/utxo/wallet.ts';
import { saveChangeWatch, seenChange } from '../../store/refunds/change.ts';
import {
  refundInputs,
  refundWallet,
  walletCoins,
  type CoinQuery,
  type RefundWallet,
} from '../../store/refunds/refund-coins.ts';
import type { App } from '../context.ts';
import { watchChain } from './change-watch.ts';
import { feeTooHigh, shortOf, warningsOf } from './psbt-messages.ts';
import { chooseCoins, MAX_COINS, type ChosenCoin } from './refund-coins.ts';
import { stillHeld, type PaidTogether, holdInputs } from './refund-held.ts';

/**
 * Access to a network of the UTXO family: nodes that know which outputs are unspent, and the highest allowed fee rate.
 */
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
      /** The address of the change; null without change. */
      readonly changeAddress: string | null;
      /** Warnings before signing. */
      readonly warnings: readonly Sentence[];
    }
  /** Why there is no PSBT, and what to do instead. */
  | { readonly kind: 'none'; readonly message: Sentence }
  /** A refund seems to be paid: nobody must pay it again. */
  | { readonly kind: 'paid'; readonly message: Sentence };

/** Other refunds of the same wallet that are shown at this moment may take the same outputs first. */
const MAX_ATTEMPTS = 5;

/** A wallet that refunds are paid from. */
export interface PayingWallet {
  readonly stored: RefundWallet;
  readonly wallet: UtxoDeriver;
  /** The first output of its change chain. */
  readonly change: WalletOutput;
  readonly changeAt: (index: number) => WalletOutput;
}

/**
 * Makes the transaction that pays a refund, or several of one wallet, for the merchant's own wallet to sign.
 * `addresses` are those of the refunds, in their order. Its inputs are reserved for each of the refunds, which show
 * them again while they are unspent. Throws `ChainUnavailableError` when no node answers.
 */
export async function refundPsbt(
  app: App,
  refunds: PaidTogether,
  addresses: readonly string[],
  { params, caller, maxFeeRate }: UtxoAccess,
): Promise<PsbtAdvice> {
  const opened = await payingWallet(app, refunds, params);
  if (opened.kind === 'none') return instead(opened.message, refunds);
  const { stored, wallet, change, changeAt } = opened;
  const payTo = refunds.map(({ units }, place) => ({ address: addresses[place] ?? '', units }));
  const dust = payTo.map((one) => dustPayout(params, one)).find((one) => one !== null);
  if (dust !== undefined) return instead(dust.message, refunds);
  const feeUnitsPerKvb = await caller.feeUnitsPerKvb();
  if (feeUnitsPerKvb > BigInt(maxFeeRate) * 1_000n) {
    return instead(feeTooHigh(params, feeUnitsPerKvb, maxFeeRate), refunds);
  }
  const [{ network }] = refunds;
  // The chain's follower may not have run since the wallet was set.
  await watchChain(app, network, (index) => changeAt(index).address, await seenChange(app.db, network, change.address));
  await saveChangeWatch(app.db, network, stored, change.address);
  const payout = { network: params.network, ...paidBy(params, payTo), change, feeUnitsPerKvb };
  const refundIds = refunds.map(({ id }) => id);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const query = coinQuery(refunds, opened, app.clock());
    const coins = await walletCoins(app.db, query, MAX_COINS);
    const before = await refundInputs(app.db, refundIds);
    const held = await stillHeld(app, refunds, caller, coins, before);
    if (held.kind !== 'ok') return held;
    const choice = await chooseCoins(
      app,
      { network, caller, payout },
      held.coins,
      coins.filter(({ isHeld }) => !isHeld),
    );
    const { outcome } = choice;
    if (outcome.kind !== 'ok') return instead(shortOf(params, choice, outcome, coins.length), refunds);
    const changeIndex = await holdInputs(app, query, changeAt, before, outcome.chosen);
    if (changeIndex === null) continue;
    // Sorted, so that the same refund shows the same transaction again.
    const inputs = outcome.chosen.toSorted(byOutpoint).map(({ coin, rawTransaction }) => ({
      ...coin,
      output: coin.isChange ? changeAt(coin.index) : wallet.outputAt(coin.index),
      rawTransaction,
    }));
    const built = buildRefundPsbt({ params, inputs, payTo, change: changeAt(changeIndex), feeUnitsPerKvb });
    if (built.kind !== 'ok') return instead(built.message, refunds);
    return {
      ...built,
      changeAddress: built.changeUnits === 0n ? null : changeAt(changeIndex).address,
      warnings: [...held.warnings, ...warningsOf(outcome.chosen, built.feeUnits, payout.payUnits, refunds.length)],
    };
  }
  return instead(sentence('refunds_shown_now'), refunds);
}

function byOutpoint({ coin: one }: ChosenCoin, { coin: other }: ChosenCoin): number {
  return one.txid === other.txid ? one.vout - other.vout : one.txid < other.txid ? -1 : 1;
}

/** Selects the outputs of the wallet that these refunds are paid from. */
export function coinQuery(
  refunds: PaidTogether,
  { stored, change }: Pick<PayingWallet, 'stored' | 'change'>,
  now: number,
): CoinQuery {
  return {
    refundIds: refunds.map(({ id }) => id),
    paymentIds: refunds.map(({ paymentId }) => paymentId),
    network: refunds[0].network,
    firstAddress: stored.firstAddress,
    firstChangeAddress: change.address,
    now,
  };
}

/** The wallet that all of these refunds are paid from, with its change chain; `none` says why there is none. */
export async function payingWallet(
  app: App,
  refunds: PaidTogether,
  params: UtxoParams,
): Promise<({ readonly kind: 'ok' } & PayingWallet) | { readonly kind: 'none'; readonly message: Sentence }> {
  const wallets: (RefundWallet | null)[] = [];
  for (const { paymentId, network } of refunds) wallets.push(await refundWallet(app.db, paymentId, network));
  const [stored = null] = wallets;
  const wallet = stored === null ? null : openWallet(params, stored);
  if (stored === null || wallet === null) return { kind: 'none', message: sentence('paying_wallet_unknown') };
  const other = wallets.findIndex((one) => one?.firstAddress !== stored.firstAddress);
  const [first] = refunds;
  const apart = refunds[other];
  if (apart !== undefined) {
    const names = { refund: encodeId('refund', apart.id), other: encodeId('refund', first.id) };
    return { kind: 'none', message: sentence('wallets_differ', names) };
  }
  const change = wallet.changeAt(0);
  if (change === null) return { kind: 'none', message: sentence('no_change_address') };
  return { kind: 'ok', stored, wallet, change, changeAt: (index) => wallet.changeAt(index) ?? change };
}

function instead(message: Sentence, { length }: PaidTogether): PsbtAdvice {
  return { kind: 'none', message: inARow([message, sentence(length === 1 ? 'pay_by_uri' : 'sign_one_by_one')]) };
}

function openWallet(params: UtxoParams, { kind, source }: RefundWallet): UtxoDeriver | null {
  if (kind === 'treasury') return null;
  const parsed = parseUtxoWallet(params, { kind, text: source });
  return parsed.kind === 'ok' ? parsed.deriver : null;
}
