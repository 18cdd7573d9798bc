import { hash } from 'node:crypto';
import { bytesToHex } from '@noble/hashes/utils.js';
import { bech32 } from '@scure/base';
import type { Network } from '../../domain/asset.ts';
import { toChecksumAddress } from '../evm/address.ts';

/**
 * A made-up address for a test payment: well-formed, so that a merchant's own checks accept it, and the same for the same
 * seed. Nobody holds a key to it: it is a hash, not of any key. Bitcoin and Litecoin get testnet addresses; EVM
 * chains have no test form.
 */
export function sandboxAddress(network: Network, seed: Uint8Array | string): string {
  const program = digest('address', network, seed).subarray(0, 20);
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
      return toChecksumAddress(`0x${bytesToHex(program)}`);
  }
}

/** A made-up transaction hash for a test payment, in the network's form: 64 hex digits, on EVM chains with `0x` before them. */
export function sandboxTransactionHash(network: Network, seed: Uint8Array | string): string {
  const hash = bytesToHex(digest('transaction', network, seed));
  return network === 'bitcoin' || network === 'litecoin' ? hash : `0x${hash}`;
}

/** The purpose and the network are hashed along, so that one seed gives an address and a hash that share nothing. */
function digest(purpose: string, network: Network, seed: Uint8Array | string): Uint8Array {
  const head = `sandbox ${purpose} ${network}\n`;
  return hash('sha256', typeof seed === 'string' ? head + seed : Buffer.concat([Buffer.from(head), seed]), 'buffer');
}

function witnessAddress(prefix: string, program: Uint8Array): string {
  return bech32.encode(prefix, [0, ...bech32.toWords(program)]);
}
