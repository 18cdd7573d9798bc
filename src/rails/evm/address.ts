import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { invalid } from '../../domain/sentence.ts';
import type { AddressCheck } from '../family.ts';
import { uncompressed } from '../public-key.ts';

/**
 * The address with its EIP-55 checksum: a letter is upper case if the top bit of the corresponding digit in the hash of
 * the lower-case digits is set. Takes any case; throws RangeError for anything but `0x` and 40 hex digits.
 */
export function toChecksumAddress(address: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new RangeError('an EVM address is 0x and 40 hex digits');
  const digits = Buffer.from(address.slice(2).toLowerCase(), 'latin1');
  const hash = keccak_256(digits);
  for (const [i, digit] of digits.entries()) {
    const byte = hash[i >> 1] ?? 0;
    const nibble = i % 2 === 0 ? byte >> 4 : byte & 0xf;
    if (digit >= LOWER_A && nibble >= 8) digits[i] = digit - LOWER_TO_UPPER;
  }
  return `0x${digits.toString('latin1')}`;
}

/** ASCII codes of letters. */
const LOWER_A = 0x61;
const LOWER_TO_UPPER = 0x20;

/** The address of a public key (compressed, 33 bytes), with its checksum. */
export function addressOfPublicKey(publicKey: Uint8Array): string {
  return toChecksumAddress(`0x${bytesToHex(keccak_256(uncompressed(publicKey).subarray(1)).subarray(-20))}`);
}

/**
 * Checks an address that somebody typed. Accepted: all lower case, all upper case, or mixed case with the right EIP-55
 * checksum. The result always has the checksum.
 */
export function parseEvmAddress(text: string): AddressCheck {
  const trimmed = text.trim();
  if (!/^0x[0-9a-fA-F]{40}$/.test(trimmed)) return invalid('address_form');
  const digits = trimmed.slice(2);
  const address = toChecksumAddress(trimmed);
  const hasChecksum = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return hasChecksum && trimmed !== address ? invalid('address_checksum') : { kind: 'ok', address };
}
