import type { UtxoCaller } from '../../rails/utxo/caller.ts';
import { selectCoins, type Coin, type Payout } from '../../rails/utxo/coin-selection.ts';
import { isHogEx } from '../../rails/utxo/psbt.ts';
import { NETWORK_FACTS, type Network } from '../../domain/networks.ts';
import { findRawTransactions } from '../../store/chains/chain.ts';
import type { WalletCoin } from '../../store/refunds/refund-coins.ts';
import type { App } from '../context.ts';

/** About how many of a wallet's outputs the node is asked, in total and at once. */
export const MAX_COINS = 10_000;
const COINS_AT_ONCE = 100;

/** Confirmations that coinbase outputs and Litecoin's pegouts need before they can be spent. */
const COINBASE_MATURITY = 100;
const PEGOUT_MATURITY = 6;

/** An output that cannot be spent yet. */
export interface ImmatureCoin {
  readonly coin: WalletCoin;
  readonly what: 'coinbase' | 'pegout';
  readonly confirmations: number;
  readonly needed: number;
}

/** An output to spend, and its transaction in hex if it is available. */
export interface ChosenCoin {
  readonly coin: WalletCoin;
  readonly rawTransaction: string | null;
}

export interface CoinChoice {
  readonly outcome:
    | { readonly kind: 'ok'; readonly chosen: readonly ChosenCoin[] }
    | { readonly kind: 'short'; readonly missingUnits: bigint }
    | { readonly kind: 'too_large'; readonly coinCount: number };
  /** Outputs that were left out because they cannot be spent yet. */
  readonly immature: readonly ImmatureCoin[];
  /** P2PKH outputs whose transactions, which signing them needs, no node has any more. */
  readonly withoutTransaction: readonly WalletCoin[];
}

/** The outputs to choose from. */
export interface CoinSource {
  readonly network: Network;
  readonly caller: UtxoCaller;
  readonly payout: Payout;
}

/**
 * Chooses the outputs that a refund spends. `held` are its reserved outputs that are still unspent; `rest` are the
 * wallet's other outputs, in the order in which the node is asked about them, a hundred at a time until they are
 * enough. Outputs reserved by other refunds are used only if no others are left.
 */
export async function chooseCoins(
  app: Pick<App, 'db'>,
  source: CoinSource,
  held: readonly WalletCoin[],
  rest: readonly WalletCoin[],
): Promise<CoinChoice> {
  const candidates = [...held];
  const immature: ImmatureCoin[] = [];
  const withoutTransaction = new Set<WalletCoin>();
  const raws = new Map<string, string | null>();

  const choose = async (coins: readonly WalletCoin[]): Promise<CoinChoice['outcome']> => {
    for (;;) {
      const usable = coins.filter((coin) => !withoutTransaction.has(coin)).map(asCandidate);
      const selection = selectCoins(source.payout, usable);
      if (selection.kind !== 'ok') return selection;
      const chosen = selection.coins.map(({ coin }) => coin);
      await loadRaws(app, source, chosen, raws);
      const lacking = chosen.filter(({ txid }) => needsRaw(source.payout) && (raws.get(txid) ?? null) === null);
      if (lacking.length === 0) {
        return { kind: 'ok', chosen: chosen.map((coin) => ({ coin, rawTransaction: raws.get(coin.txid) ?? null })) };
      }
      for (const coin of lacking) withoutTransaction.add(coin);
    }
  };

  const isFree = ({ heldBy }: WalletCoin): boolean => heldBy.length === 0;
  let outcome = await choose(held);
  for (let start = 0; start < rest.length && outcome.kind !== 'ok'; start += COINS_AT_ONCE) {
    const read = await readCoins(source, rest.slice(start, start + COINS_AT_ONCE));
    candidates.push(...read.mature);
    immature.push(...read.immature);
    outcome = await choose(candidates.filter((coin) => coin.isHeld || isFree(coin)));
  }
  if (outcome.kind !== 'ok') outcome = await choose(candidates);
  return { outcome, immature, withoutTransaction: [...withoutTransaction] };
}

/** The outputs that can be spent now, and those that can be later. Spent ones are left out. */
async function readCoins(
  { caller, payout }: CoinSource,
  coins: readonly WalletCoin[],
): Promise<{ readonly mature: readonly WalletCoin[]; readonly immature: readonly ImmatureCoin[] }> {
  const states = await caller.unspent(coins);
  const unspent = coins.flatMap((coin, place) => {
    const state = states[place] ?? null;
    // Without confirmations, its block has just been reorganised away.
    return state === null || state.confirmations === 0 ? [] : [{ coin, ...state }];
  });
  const pegouts = NETWORK_FACTS[payout.network].hasMweb
    ? await immaturePegouts(caller, unspent)
    : new Set<WalletCoin>();
  const immature = unspent.flatMap(({ coin, coinbase, confirmations }): readonly ImmatureCoin[] => {
    if (coinbase && confirmations < COINBASE_MATURITY) {
      return [{ coin, what: 'coinbase', confirmations, needed: COINBASE_MATURITY }];
    }
    return pegouts.has(coin) ? [{ coin, what: 'pegout', confirmations, needed: PEGOUT_MATURITY }] : [];
  });
  const notYet = new Set(immature.map(({ coin }) => coin));
  return { mature: unspent.map(({ coin }) => coin).filter((coin) => !notYet.has(coin)), immature };
}

/**
 * Nodes do not say which outputs came out of MWEB; their transaction shows it, and its block is so new that every node
 * has it.
 */
async function immaturePegouts(
  caller: UtxoCaller,
  unspent: readonly { readonly coin: WalletCoin; readonly confirmations: number }[],
): Promise<ReadonlySet<WalletCoin>> {
  const recent = unspent.filter(({ confirmations }) => confirmations < PEGOUT_MATURITY).map(({ coin }) => coin);
  const raws = await caller.rawTransactions(recent);
  return new Set(recent.filter((_, place) => isHogEx(Buffer.from(raws[place] ?? '', 'hex'))));
}

/** The transactions of these outputs that signers may need, from the database or from the nodes. */
async function loadRaws(
  app: Pick<App, 'db'>,
  { network, caller, payout }: CoinSource,
  coins: readonly WalletCoin[],
  raws: Map<string, string | null>,
): Promise<void> {
  // A Taproot signature commits to the amounts of all inputs.
  if (payout.change.scriptType === 'p2tr') return;
  const missingCoins = [
    ...new Map(coins.filter(({ txid }) => !raws.has(txid)).map((coin) => [coin.txid, coin])).values(),
  ];
  const kept = await findRawTransactions(
    app.db,
    network,
    missingCoins.map(({ txid }) => txid),
  );
  for (const [txid, raw] of kept) raws.set(txid, raw);
  const missing = missingCoins.filter(({ txid }) => !kept.has(txid));
  const found = await caller.rawTransactions(missing);
  missing.forEach(({ txid }, place) => raws.set(txid, found[place] ?? null));
}

function needsRaw({ change }: Payout): boolean {
  return change.scriptType === 'p2pkh';
}

function asCandidate(coin: WalletCoin): Coin & { readonly coin: WalletCoin } {
  const { amountUnits, isHeld, isOwn } = coin;
  return { coin, amountUnits, use: isHeld ? 'held' : isOwn ? 'first' : 'free' };
}
