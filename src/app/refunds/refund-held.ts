import { encodeId } from '../../domain/id.ts';
import { sentence, type Sentence } from '../../domain/sentence.ts';
import type { Refund } from '../../domain/refund.ts';
import type { Outpoint, UtxoCaller } from '../../rails/utxo/caller.ts';
import { readCursor, saveRawTransactions } from '../../store/chains/chain.ts';
import {
  spentByPayouts,
  type WalletCoin,
  heldByOthers,
  lockWalletCoins,
  refundInputs,
  saveRefundInputs,
  type CoinQuery,
} from '../../store/refunds/refund-coins.ts';
import { payoutOf, type RefundPayout } from '../../store/refunds/refund-payouts.ts';
import type { App } from '../context.ts';
import { chooseChangeIndex, lastIndex } from '../../domain/change-index.ts';
import type { WalletOutput } from '../../rails/utxo/output.ts';
import { openChange, refundChanges, saveRefundChange, seenChange, watchChange } from '../../store/refunds/change.ts';
import type { Trx } from '../../store/database.ts';
import { lockRefund } from '../../store/refunds/refunds.ts';
import type { ChosenCoin } from './refund-coins.ts';

/** The reserved inputs of refunds that can still be spent, or why nothing may be signed now. */
export type HeldInputs =
  | { readonly kind: 'ok'; readonly coins: readonly WalletCoin[]; readonly warnings: readonly Sentence[] }
  | { readonly kind: 'paid'; readonly message: Sentence };

/** Refunds of one network and wallet that one transaction pays. */
export type PaidTogether = readonly [Refund, ...Refund[]];

/**
 * The reserved inputs that are still unspent. If one is spent, it may well have paid a refund: until blocks show the
 * transaction, nothing may be signed, because a second transaction with other inputs would pay the customer twice.
 */
export async function stillHeld(
  app: App,
  refunds: PaidTogether,
  caller: UtxoCaller,
  coins: readonly WalletCoin[],
  before: ReadonlyMap<string, readonly Outpoint[]>,
): Promise<HeldInputs> {
  const [{ network }] = refunds;
  const isOne = refunds.length === 1;
  const reserved = distinctOutputs([...before.values()].flat());
  const states = await caller.unspent(reserved);
  const unspent = reserved.filter((_, place) => (states[place] ?? null) !== null);
  const held = coins.filter((coin) => unspent.some((one) => isOutput(coin, one)));
  if (held.length < unspent.length) {
    return { kind: 'paid', message: sentence(isOne ? 'inputs_reorged' : 'inputs_reorged_many') };
  }
  if (unspent.length === reserved.length) return { kind: 'ok', coins: held, warnings: [] };
  const gone = reserved.filter((one) => !unspent.includes(one));
  const inBlocks = await caller.unspent(gone, { inBlocks: true });
  if (inBlocks.some((state) => state !== null)) {
    return { kind: 'paid', message: sentence(isOne ? 'inputs_being_spent' : 'inputs_being_spent_many') };
  }
  const height = await caller.height();
  const cursor = await readCursor(app.db, network);
  if (cursor === null || cursor.height < height) {
    return { kind: 'paid', message: sentence(isOne ? 'inputs_spent' : 'inputs_spent_many') };
  }
  const warnings: Sentence[] = [];
  for (const { id } of refunds) {
    const its = gone.filter((one) => (before.get(id) ?? []).some((input) => isOutput(one, input)));
    if (its.length === 0) continue;
    const payout = await payoutOf(app.db, id);
    if (payout !== null && payout.state !== 'dropped') return { kind: 'paid', message: paidBy(payout) };
    const paidOthers = await spentByPayouts(app.db, id, network, its);
    if (paidOthers.length < its.length) {
      const name = isOne ? sentence('this_refund') : encodeId('refund', id);
      warnings.push(sentence('inputs_spent_otherwise', { refund: name }));
    }
  }
  return { kind: 'ok', coins: held, warnings };
}

/** The message for a refund whose payout is unmined or has too few confirmations. */
export function paidBy({ transactionHash: hash, state }: RefundPayout): Sentence {
  return sentence(state === 'block' ? 'payout_mined' : 'payout_waiting', { hash });
}

export function isOutput(one: Outpoint, { txid, vout }: Outpoint): boolean {
  return one.txid === txid && one.vout === vout;
}

/** Each output once. */
export function distinctOutputs(outputs: readonly Outpoint[]): readonly Outpoint[] {
  return [...new Map(outputs.map((one) => [`${one.txid}:${one.vout}`, one])).values()];
}

/**
 * Saves a transaction's inputs and change address for each of its refunds. Returns the index of the change address;
 * null if another refund took some of the inputs meanwhile, or if one of these refunds changed.
 */
export async function holdInputs(
  app: App,
  query: CoinQuery,
  changeAt: (index: number) => WalletOutput,
  expected: ReadonlyMap<string, readonly Outpoint[]>,
  chosen: readonly ChosenCoin[],
): Promise<number | null> {
  const { refundIds, network } = query;
  return app.db.transaction().execute(async (trx) => {
    await lockWalletCoins(trx, network, query.firstAddress);
    // In the order of ids, so that two transactions that lock several refunds cannot deadlock.
    for (const id of refundIds.toSorted()) {
      if ((await lockRefund(trx, id))?.status !== 'pending') return null;
    }
    const before = await refundInputs(trx, refundIds);
    const isSame = refundIds.every((id) => areSame(before.get(id) ?? [], expected.get(id) ?? []));
    if (!isSame) return null;
    const free = chosen.map(({ coin }) => coin).filter(({ isHeld, heldBy }) => !isHeld && heldBy.length === 0);
    if ((await heldByOthers(trx, query, free)).length > 0) return null;
    const spends = chosen.map(({ coin }) => coin);
    for (const id of refundIds) await saveRefundInputs(trx, id, network, spends);
    // If shown again, the refund must be able to spend the same inputs, even if the node has pruned the block
    // meanwhile.
    if (changeAt(0).scriptType === 'p2pkh') {
      const whole = chosen.map(
        ({ coin, rawTransaction }) => [coin.txid, Buffer.from(rawTransaction ?? '', 'hex')] as const,
      );
      await saveRawTransactions(trx, network, new Map(whole));
    }
    return holdChange(trx, query, changeAt);
  });
}

function areSame(some: readonly Outpoint[], others: readonly Outpoint[]): boolean {
  return some.length === others.length && some.every((one) => others.some((other) => isOutput(one, other)));
}

/** Keeps the same change address, unless it was paid meanwhile. */
async function holdChange(trx: Trx, query: CoinQuery, changeAt: (index: number) => WalletOutput): Promise<number> {
  const { refundIds, network, firstChangeAddress } = query;
  const seen = await seenChange(trx, network, firstChangeAddress);
  const before = await refundChanges(trx, network, firstChangeAddress, refundIds);
  const again = before.find((index) => !seen.has(index) && index <= lastIndex(seen));
  const open = await openChange(trx, network, firstChangeAddress, query);
  const index = again ?? chooseChangeIndex({ seen, open });
  const { address } = changeAt(index);
  await watchChange(trx, [{ network, address, firstChangeAddress, index }]);
  for (const id of refundIds) await saveRefundChange(trx, id, network, address);
  return index;
}
