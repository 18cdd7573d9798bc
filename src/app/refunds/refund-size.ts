import { tokenOf } from '../../domain/asset.ts';
import { fiatDecimals, formatDecimal } from '../../domain/money.ts';
import type { Quote } from '../../domain/payment.ts';
import type { sizeRefund } from '../../domain/refund.ts';
import type { RefundedPayment, RefundRefusal } from './refund-money.ts';

/**
 * The size a request asks for: an amount in minor units, an amount of the asset as a decimal, or everything that is
 * left.
 */
export type WantedRefund = { readonly amountMinor: bigint } | { readonly cryptoAmount: string } | null;

/** The requested units of a token with `decimals`, if the request states them; null: everything that is left. */
export function wantedUnits(
  wanted: WantedRefund,
  decimals: number,
): { readonly amountMinor: bigint } | { readonly units: bigint } | RefundRefusal | null {
  if (wanted === null || 'amountMinor' in wanted) return wanted;
  const units = parseUnits(wanted.cryptoAmount, decimals);
  if (units !== null) return { units };
  const message = `crypto_amount must be a number above 0 with at most ${Math.min(decimals, 8)} decimals.`;
  return { kind: 'refused', param: 'crypto_amount', message };
}

function parseUnits(text: string, decimals: number): bigint | null {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  const fraction = match?.[2] ?? '';
  if (match === null || fraction.length > Math.min(decimals, 8)) return null;
  const units = BigInt((match[1] ?? '0') + fraction.padEnd(decimals, '0'));
  return units > 0n ? units : null;
}

/** Why nothing of the requested size can be refunded; names what is left. */
export function sizeRefusal(
  payment: RefundedPayment,
  wanted: object | null,
  size: Exclude<ReturnType<typeof sizeRefund>, { kind: 'ok' }>,
): RefundRefusal {
  const param = wanted !== null && 'units' in wanted ? 'crypto_amount' : 'amount';
  const { asset, decimals } = payment.quote;
  switch (size.kind) {
    case 'nothing_left':
      return {
        kind: 'refused',
        param: null,
        message: 'Nothing is left to refund: the sum of refunds equals what was received.',
      };
    case 'too_little':
      return { kind: 'refused', param, message: `${param} is less than the smallest unit of ${asset}.` };
    case 'too_much': {
      const left = formatDecimal(size.leftUnits, decimals);
      const leftFiat = `${formatDecimal(size.leftMinor, fiatDecimals(payment.currency))} ${payment.currency}`;
      const worth = payment.amountMinor === 0n ? '' : ` (${leftFiat})`;
      return {
        kind: 'refused',
        param,
        message: `${param} is more than what can still be refunded: ${left} ${asset}${worth}.`,
      };
    }
  }
}

/** Nodes do not relay payments below the dust limit, which also applies to orders. */
export function dustRefusal(quote: Quote, units: bigint, wanted: object | null): RefundRefusal | null {
  const { asset, network, decimals } = quote;
  const token = tokenOf(asset, network);
  if (token === null || token.decimals !== decimals || units >= token.dustUnits) return null;
  const param = wanted === null ? null : 'units' in wanted ? 'crypto_amount' : 'amount';
  const least = `${formatDecimal(token.dustUnits, decimals)} ${asset}`;
  const is = `${formatDecimal(units, decimals)} ${asset}`;
  const message = `${param ?? 'What is left'} is too little to be sent (${is}): the network passes on no less than ${least}.`;
  return { kind: 'refused', param, message };
}
