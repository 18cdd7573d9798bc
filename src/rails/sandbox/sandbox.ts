import { hash } from 'node:crypto';
import type { Network } from '../../domain/networks.ts';
import { rulesOf } from '../networks.ts';

/**
 * A made-up address for a test payment: well-formed, so that a merchant's own checks accept it, and the same for the
 * same seed. Nobody holds a key to it: it is a hash, not of any key. Bitcoin and Litecoin get testnet addresses; EVM
 * chains have no test form.
 */
export function sandboxAddress(network: Network, seed: string): string {
  return rulesOf(network).testAddress(digest('address', network, seed).slice(0, 40));
}

/**
 * A made-up transaction hash for a test payment, in the network's form: 64 hex digits, on EVM chains with `0x` before
 * them.
 */
export function sandboxTransactionHash(network: Network, seed: string): string {
  return rulesOf(network).transactionHash(digest('transaction', network, seed));
}

/**
 * 64 hex digits. The purpose and the network are hashed along, so that one seed gives an address and a hash that share
 * nothing.
 */
function digest(purpose: string, network: Network, seed: string): string {
  return hash('sha256', `sandbox ${purpose} ${network}\n${seed}`, 'hex');
}
