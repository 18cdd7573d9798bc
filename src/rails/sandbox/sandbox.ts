import { hash } from 'node:crypto';
import type { Network } from '../../domain/asset.ts';
import { toChecksumAddress } from '../evm/address.ts';

/**
 * A made-up address for a test payment: well-formed, so that a merchant's own checks accept it, and the same for the same
 * seed. Nobody holds a key to it: it is a hash, not of any key. Bitcoin and Litecoin get testnet addresses; EVM
 * chains have no test form.
 */
export function sandboxAddress(network: Network, seed: string): string {
  const program = digest('address', network, seed).slice(0, 40);
  switch (network) {
    case 'bitcoin':
      return witnessAddress('tb', program);
    case 'litecoin':
      return witnessAddress('tltc', program);
    case 'ethereum':
    case 'polygon':
    case 'base':
    case 'arbitrum':
    case 'bsc':
      return toChecksumAddress(`0x${program}`);
  }
}

/** A made-up transaction hash for a test payment, in the network's form: 64 hex digits, on EVM chains with `0x` before them. */
export function sandboxTransactionHash(network: Network, seed: string): string {
  const hash = digest('transaction', network, seed);
  return network === 'bitcoin' || network === 'litecoin' ? hash : `0x${hash}`;
}

/** 64 hex digits. The purpose and the network are hashed along, so that one seed gives an address and a hash that share nothing. */
function digest(purpose: string, network: Network, seed: string): string {
  return hash('sha256', `sandbox ${purpose} ${network}\n${seed}`, 'hex');
}

const CHARACTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const CHECKSUM_LENGTH = 6;

/**
 * A version 0 witness program, given in hex, as bech32 (BIP 173). Written out here because every test order makes one, and a general
 * encoder took most of the time that making it takes; what it makes is checked against one by the tests.
 */
function witnessAddress(prefix: string, program: string): string {
  let check = 1;
  const take = (value: number): void => {
    const top = check >>> 25;
    check = ((check & 0x1ffffff) << 5) ^ value;
    if (top & 1) check ^= 0x3b6a57b2;
    if (top & 2) check ^= 0x26508e6d;
    if (top & 4) check ^= 0x1ea119fa;
    if (top & 8) check ^= 0x3d4233dd;
    if (top & 16) check ^= 0x2a1462b3;
  };
  for (let index = 0; index < prefix.length; index += 1) take(prefix.charCodeAt(index) >> 5);
  take(0);
  for (let index = 0; index < prefix.length; index += 1) take(prefix.charCodeAt(index) & 31);
  let text = `${prefix}1`;
  const write = (value: number): void => {
    take(value);
    text += CHARACTERS.charAt(value);
  };
  write(0);
  let held = 0;
  let bits = 0;
  for (let index = 0; index < program.length; index += 1) {
    const code = program.charCodeAt(index);
    held = (held << 4) | (code < 58 ? code - 48 : code - 87);
    bits += 4;
    if (bits < 5) continue;
    bits -= 5;
    write(held >> bits);
    held &= (1 << bits) - 1;
  }
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) take(0);
  check ^= 1;
  for (let shift = 25; shift >= 0; shift -= 5) text += CHARACTERS.charAt((check >>> shift) & 31);
  return text;
}
