import { encodeId } from '../../domain/id.ts';
import { formatDecimal } from '../../domain/money.ts';
import { NETWORK_FACTS, settingOf } from '../../domain/networks.ts';
import type { UtxoParams } from '../../rails/utxo/params.ts';
import { shortMessage } from '../../rails/utxo/psbt.ts';
import { MAX_COINS, type ChosenCoin, type CoinChoice } from './refund-coins.ts';

/** A fee of at least this share of the refund is mentioned in a warning. */
const HIGH_FEE_PERCENT = 10n;

export function feeTooHigh({ network }: UtxoParams, feeUnitsPerKvb: bigint, maxFeeRate: number): string {
  const unit = NETWORK_FACTS[network].smallestUnit;
  const rate = formatDecimal(feeUnitsPerKvb, 3);
  return (
    `The node asks for a fee rate of ${rate} ${unit}/vB, more than the ${maxFeeRate} ${unit}/vB that MAX_FEE_RATE allows. ` +
    'Show the refund again when fees are lower, or raise MAX_FEE_RATE if the rate is right.'
  );
}

export function shortOf(
  { network }: UtxoParams,
  { immature, withoutTransaction }: CoinChoice,
  outcome: Exclude<CoinChoice['outcome'], { kind: 'ok' }>,
  coinsRead: number,
): string {
  if (outcome.kind === 'too_large') {
    return `The refund would have to spend more than ${outcome.coinCount - 1} small outputs. Nodes do not forward such a large transaction. Combine some of these outputs in your wallet first, or refund less.`;
  }
  const [soonest] = immature.toSorted((a, b) => a.needed - a.confirmations - (b.needed - b.confirmations));
  if (soonest !== undefined) {
    const { coin, what, confirmations, needed } = soonest;
    const left = needed - confirmations;
    const is = { coinbase: "a miner's reward", pegout: 'paid out of MWEB' }[what];
    return (
      `The output ${coin.txid}:${coin.vout} cannot be spent yet. It is ${is} and has ${confirmations} of the ${needed} confirmations that it needs. ` +
      `The other outputs are not enough. Show the refund again in ${left} ${left === 1 ? 'block' : 'blocks'} (${about(left * NETWORK_FACTS[network].blockMs)}).`
    );
  }
  const [lacking] = withoutTransaction;
  if (lacking !== undefined) {
    const setting = settingOf(network, 'RPC_URL');
    return (
      `To sign for a P2PKH address, a wallet needs the whole transaction that paid to it. No node still has ${lacking.txid}, because block ${lacking.blockHeight} was pruned. ` +
      `Add a node that still has block ${lacking.blockHeight}, such as one that is not pruned, to ${setting}.`
    );
  }
  const some = coinsRead < MAX_COINS ? '' : ` Only ${MAX_COINS} outputs of the wallet were examined.`;
  return `${shortMessage(network, outcome.missingUnits)}${some}`;
}

function about(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 120 ? `about ${minutes} minutes` : `about ${Math.ceil(minutes / 60)} hours`;
}

export function warningsOf(
  chosen: readonly ChosenCoin[],
  feeUnits: bigint,
  units: bigint,
  count: number,
): readonly string[] {
  const shared = [...new Set(chosen.flatMap(({ coin }) => coin.heldBy))].map((id) => encodeId('refund', id));
  const percent = (feeUnits * 100n) / units;
  return [
    ...(shared.length === 0
      ? []
      : [
          `This transaction spends inputs that were also shown for ${shared.join(', ')}, because the refunds were shown in one transaction or because no other inputs are left. Only one of these transactions can be sent. ` +
            'Send one of them, and show the remaining refunds again once it is confirmed.',
        ]),
    ...(percent < HIGH_FEE_PERCENT ? [] : [`The fee is ${percent} % of the ${count === 1 ? 'refund' : 'refunds'}.`]),
  ];
}
