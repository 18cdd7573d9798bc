import { toChecksumAddress } from './address.ts';

export interface EvmPayment {
  readonly address: string;
  readonly chainId: number;
  /** In wei. */
  readonly amount: bigint;
}

/**
 * The payment URI of EIP-681 for a native transfer, as wallets read it from a QR code or a link. The value is written out in
 * full: the exponents that EIP-681 also allows are not understood by every wallet.
 */
export function evmPaymentUri({ address, chainId, amount }: EvmPayment): string {
  if (!Number.isSafeInteger(chainId) || chainId < 1) throw new RangeError('a chain id is a positive integer');
  if (amount < 0n) throw new RangeError('an amount is not negative');
  return `ethereum:${toChecksumAddress(address)}@${chainId}?value=${amount}`;
}
