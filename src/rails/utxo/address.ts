import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, bech32m, createBase58check } from '@scure/base';
import { NETWORK_FACTS, UTXO_NETWORKS, type UtxoNetwork } from '../../domain/networks.ts';
import { invalid, type Invalid } from '../../domain/sentence.ts';
import type { AddressCheck, PayoutChain, UtxoChain } from '../family.ts';
import { chainsOf, utxoParams } from './params.ts';

/** The prefixes of a chain's addresses: the human-readable part of BIP 173, and the version bytes of base58check. */
interface AddressPrefixes {
  readonly bech32: string;
  readonly base58: readonly number[];
}

/**
 * Checks an address for a payout: that it belongs to the network and chain, that its checksum is right, and that money
 * sent there can be spent. Litecoin's old P2SH bytes 0x05 and 0xc4 are not accepted: they are Bitcoin's, and money sent
 * on the wrong chain is hard to recover. Litecoin's wallets have shown 0x32 (`M…`) since 2017.
 */
export function checkUtxoPayout(network: UtxoNetwork, address: string, chain: PayoutChain): AddressCheck {
  const { label } = NETWORK_FACTS[network];
  const decoded = decode(address);
  if (!decoded) {
    return invalid('address_unknown', { network: label });
  }
  const isOf = (other: UtxoNetwork, where: PayoutChain): boolean =>
    prefixesOf(other, where).some((prefixes) => belongsTo(decoded, prefixes));
  if (isOf(network, chain)) {
    return decoded.kind === 'bech32' ? checkWitnessProgram(decoded) : { kind: 'ok', address };
  }
  const others = UTXO_NETWORKS.filter((other) => other !== network);
  const ofOther = (other: UtxoNetwork): Invalid =>
    invalid('address_other_network', { other: NETWORK_FACTS[other].label, network: label });
  const main = others.find((other) => isOf(other, 'main'));
  if (main !== undefined) return ofOther(main);
  const isOwn = isOf(network, 'any');
  const other = others.find((each) => isOf(each, 'any'));
  if (!isOwn && other === undefined) return invalid('address_foreign', { network: label });
  if (chain === 'main') return invalid('address_of_test', { network: label });
  if (other !== undefined && (!isOwn || chain === 'any')) return ofOther(other);
  const code = isOf(network, 'main') ? 'address_of_main' : 'address_of_other_test';
  const [prefix = ''] = prefixesOf(network, chain).map((prefixes) => `${prefixes.bech32}1…`);
  return invalid(code, { network: label, chain, prefix });
}

function prefixesOf(network: UtxoNetwork, chain: PayoutChain): readonly AddressPrefixes[] {
  const chains: readonly UtxoChain[] = chain === 'any' ? chainsOf(network) : [chain];
  return chains.flatMap((each) => {
    const params = utxoParams(network, each);
    if (params === null) return [];
    const { bech32: prefix, pubKeyHash, scriptHash } = params.address;
    return [{ bech32: prefix, base58: [pubKeyHash, scriptHash] }];
  });
}

type Decoded =
  | { readonly kind: 'base58'; readonly version: number }
  | {
      readonly kind: 'bech32';
      readonly address: string;
      readonly prefix: string;
      readonly encoding: 'bech32' | 'bech32m';
      readonly words: readonly number[];
    };

function decode(address: string): Decoded | null {
  // The limit of BIP 173. Decoding base58 takes quadratic time, so nothing longer is decoded.
  if (address.length > 90) return null;
  for (const [encoding, codec] of [['bech32', bech32] as const, ['bech32m', bech32m] as const]) {
    const parts = codec.decodeUnsafe(address);
    if (parts)
      return { kind: 'bech32', address: address.toLowerCase(), prefix: parts.prefix, encoding, words: parts.words };
  }
  const payload = decodeBase58check(address);
  const version = payload?.[0];
  return payload?.length === 21 && version !== undefined ? { kind: 'base58', version } : null;
}

function decodeBase58check(address: string): Uint8Array | null {
  try {
    return createBase58check(sha256).decode(address);
  } catch {
    return null;
  }
}

function belongsTo(decoded: Decoded, prefixes: AddressPrefixes): boolean {
  return decoded.kind === 'bech32' ? prefixes.bech32 === decoded.prefix : prefixes.base58.includes(decoded.version);
}

/**
 * BIP 173 and BIP 350: version 0 in bech32 with 20 or 32 bytes, version 1 (Taproot) in bech32m with 32 bytes. Versions
 * and lengths without rules yet are refused: anyone could spend money sent there.
 */
function checkWitnessProgram(decoded: Decoded & { kind: 'bech32' }): AddressCheck {
  const damaged = invalid('address_damaged');
  const [version, ...words] = decoded.words;
  const program = bech32.fromWordsUnsafe(words);
  if (version === undefined || !program) return damaged;
  if (version > 1) return invalid('address_version');
  if (decoded.encoding !== (version === 0 ? 'bech32' : 'bech32m')) return damaged;
  const length = program.length;
  const fits = version === 0 ? length === 20 || length === 32 : length === 32;
  return fits ? { kind: 'ok', address: decoded.address } : damaged;
}
