import { tokenOf } from '../../domain/asset.ts';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import { otherMoney } from '../../domain/other-money.ts';
import type { Payment, Transfer } from '../../domain/payment.ts';
import { NOTHING_REFUNDED, refundableUnits, sizeRefund, type RefundedMoney } from '../../domain/refund.ts';
import { isFinal } from '../../domain/status.ts';

/** The part of a payment's confirmed money in one token that refunds can return, in its smallest units. */
export interface Refundable {
  readonly asset: AssetCode;
  readonly network: Network;
  readonly decimals: number;
  readonly confirmedUnits: bigint;
  /** The sum of completed and pending refunds. */
  readonly takenUnits: bigint;
  readonly leftUnits: bigint;
  /** `leftUnits` at the payment's rate, in its currency; null if it was not quoted in this token. */
  readonly leftMinor: bigint | null;
  /** The part of `leftUnits` that exceeds the owed amount, with its worth; null if it is within the tolerance. */
  readonly excess: { readonly units: bigint; readonly minor: bigint } | null;
}

type Taken = RefundedMoney & { readonly asset: AssetCode; readonly network: Network };

/**
 * The refundable money in each received token, the quote's first; empty while the payment may still change. For
 * display: `createRefund` decides under the payment's lock.
 */
export function refundableMoney(
  payment: Payment,
  transfers: readonly Transfer[],
  taken: readonly Taken[],
): readonly Refundable[] {
  if (!isFinal(payment.status)) return [];
  const takenOf = ({ asset, network }: Pick<Taken, 'asset' | 'network'>): RefundedMoney =>
    taken.find((one) => one.asset === asset && one.network === network) ?? NOTHING_REFUNDED;
  const { quote } = payment;
  const own = quote === null ? [] : [quotedMoney({ ...payment, quote }, takenOf(quote))];
  const others = otherMoney(payment, transfers).map(({ asset, network, confirmedUnits }) => {
    const { units: takenUnits } = takenOf({ asset, network });
    const decimals = tokenOf(asset, network)?.decimals ?? 0;
    const left = confirmedUnits - takenUnits;
    const leftUnits = left > 0n ? left : 0n;
    return { asset, network, decimals, confirmedUnits, takenUnits, leftUnits, leftMinor: null, excess: null };
  });
  return [...own, ...others].filter(({ confirmedUnits }) => confirmedUnits > 0n);
}

function quotedMoney(payment: Payment & { readonly quote: NonNullable<Payment['quote']> }, taken: RefundedMoney) {
  const { asset, network, decimals, owedUnits, toleranceUnits } = payment.quote;
  const { confirmedUnits } = payment.received.all;
  const leftUnits = refundableUnits(payment, taken);
  const all = sizeRefund(payment, taken, null);
  const beyond = { ...payment.received.all, confirmedUnits: confirmedUnits - owedUnits };
  const excessUnits = refundableUnits({ ...payment, received: { ...payment.received, all: beyond } }, taken);
  const excess = excessUnits > toleranceUnits ? sizeRefund(payment, taken, { units: excessUnits }) : null;
  return {
    asset,
    network,
    decimals,
    confirmedUnits,
    takenUnits: taken.units,
    leftUnits,
    leftMinor: all.kind === 'ok' ? all.amountMinor : 0n,
    excess: excess?.kind === 'ok' ? { units: excess.units, minor: excess.amountMinor } : null,
  };
}
