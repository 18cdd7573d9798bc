import { formatDecimal } from '../../domain/money.ts';
import type { UtxoNetwork } from './params.ts';

/** One bitcoin is 10^8 satoshi, one litecoin 10^8 litoshi. */
const DECIMALS = 8;

/**
 * The payment URI of BIP 21, as wallets read it from a QR code or a link: `bitcoin:ADDRESS?amount=0.00041667`. Litecoin has the
 * same under its own scheme. Test chains share the scheme; their addresses tell them apart. Throws RangeError for an
 * amount that is not positive.
 *
 * @param amountUnits in satoshi or litoshi
 */
export function utxoPaymentUri(network: UtxoNetwork, address: string, amountUnits: bigint): string {
  if (amountUnits <= 0n) throw new RangeError('the amount of a payment is positive');
  return `${network}:${address}?amount=${formatDecimal(amountUnits, DECIMALS)}`;
}
