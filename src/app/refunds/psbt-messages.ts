import { encodeId } from '../../domain/id.ts';
import { formatDecimal } from '../../domain/money.ts';
import { NETWORK_FACTS, settingOf } from '../../domain/networks.ts';
import { inARow, sentence, type Sentence } from '../../domain/sentence.ts';
import type { UtxoParams } from '../../rails/utxo/params.ts';
import { shortMessage } from '../../rails/utxo/psbt.ts';
import { MAX_COINS, type ChosenCoin, type CoinChoice } from './refund-coins.ts';

/** A fee of at least this share of the refund is mentioned in a warning. */
const HIGH_FEE_PERCENT = 10n;

export function feeTooHigh({ network }: UtxoParams, feeUnitsPerKvb: bigint, maxFeeRate: number): Sentence {
  const unit = NETWORK_FACTS[network].smallestUnit;
  return sentence('fee_rate_high', { rate: formatDecimal(feeUnitsPerKvb, 3), unit, max: maxFeeRate });
}

export function shortOf(
  { network }: UtxoParams,
  { immature, withoutTransaction }: CoinChoice,
  outcome: Exclude<CoinChoice['outcome'], { kind: 'ok' }>,
  coinsRead: number,
): Sentence {
  if (outcome.kind === 'too_large') return sentence('too_many_outputs', { max: outcome.coinCount - 1 });
  const [soonest] = immature.toSorted((a, b) => a.needed - a.confirmations - (b.needed - b.confirmations));
  if (soonest !== undefined) {
    const { coin, what, confirmations, needed } = soonest;
    const left = needed - confirmations;
    return sentence('output_immature', {
      output: `${coin.txid}:${coin.vout}`,
      is: sentence(`immature_${what}`),
      confirmations,
      needed,
      blocks: left === 1 ? sentence('one_block') : sentence('many_blocks', { count: left }),
      time: about(left * NETWORK_FACTS[network].blockMs),
    });
  }
  const [lacking] = withoutTransaction;
  if (lacking !== undefined) {
    const { txid, blockHeight: height } = lacking;
    return sentence('output_pruned', { txid, height, setting: settingOf(network, 'RPC_URL') });
  }
  const some = coinsRead < MAX_COINS ? [] : [sentence('outputs_examined', { max: MAX_COINS })];
  return inARow([shortMessage(network, outcome.missingUnits), ...some]);
}

function about(ms: number): Sentence {
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 120
    ? sentence('about_minutes', { minutes })
    : sentence('about_hours', { hours: Math.ceil(minutes / 60) });
}

export function warningsOf(
  chosen: readonly ChosenCoin[],
  feeUnits: bigint,
  units: bigint,
  count: number,
): readonly Sentence[] {
  const shared = [...new Set(chosen.flatMap(({ coin }) => coin.heldBy))].map((id) => encodeId('refund', id));
  const percent = (feeUnits * 100n) / units;
  return [
    ...(shared.length === 0 ? [] : [sentence('inputs_shared', { refunds: shared.join(', ') })]),
    ...(percent < HIGH_FEE_PERCENT
      ? []
      : [sentence(count === 1 ? 'fee_share' : 'fee_share_many', { percent: String(percent) })]),
  ];
}
