import { hash } from 'node:crypto';
import type { Network } from '../../domain/networks.ts';
import { rulesOf } from '../networks.ts';

/**
 * A made-up address for a test payment: valid, so that a merchant's own checks accept it, and the same for the same
 * seed. Nobody has a key to it, because it is a hash of something else. Bitcoin and Litecoin get testnet addresses; EVM
 * chains have no test form.
 */
export function sandboxAddress(network: Network, seed: string): string {
  return rulesOf(network).testAddress(digest('address', network, seed).slice(0, 40));
}

/** A made-up transaction hash for a test payment in the network's form: 64 hex digits, on EVM chains after `0x`. */
export function sandboxTransactionHash(network: Network, seed: string): string {
  return rulesOf(network).transactionHash(digest('transaction', network, seed));
}

/**
 * 64 hex digits. The purpose and the network are part of the hash, so that one seed gives an unrelated address and
 * hash.
 */
function digest(purpose: string, network: Network, seed: string): string {
  return hash('sha256', `sandbox ${purpose} ${network}\n${seed}`, 'hex');
}
