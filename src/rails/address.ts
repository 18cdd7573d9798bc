import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, bech32m, createBase58check } from '@scure/base';
import type { Network } from '../domain/asset.ts';
import { parseEvmAddress, toChecksumAddress, type AddressCheck } from './evm/address.ts';
import { isDepositMachinery } from './evm/deposit.ts';
import { EVM_TOKENS, type EvmNetwork } from './evm/presets.ts';
import type { UtxoChain } from './utxo/params.ts';

/** Which chain of a network an address must be of; `any`: main or test, where nothing is ever sent. */
export type PayoutChain = UtxoChain | 'any';

/** How Bitcoin and its kin write addresses: human-readable parts of BIP 173, version bytes of base58check. */
interface AddressFormat {
  readonly name: string;
  readonly main: AddressPrefixes;
  /** Of testnet and signet, which write addresses alike. */
  readonly test: AddressPrefixes;
  /** In base58 they are written as testnet's are. */
  readonly regtest: AddressPrefixes;
}

interface AddressPrefixes {
  readonly bech32: string;
  readonly base58: readonly number[];
}

/** P2PKH and P2SH version bytes from each coin's chainparams. */
const BITCOIN: AddressFormat = {
  name: 'Bitcoin',
  main: { bech32: 'bc', base58: [0x00, 0x05] },
  test: { bech32: 'tb', base58: [0x6f, 0xc4] },
  regtest: { bech32: 'bcrt', base58: [0x6f, 0xc4] },
};

/**
 * Litecoin's old P2SH bytes 0x05 and 0xc4 are left out: they are Bitcoin's, and money sent on the wrong chain is
 * hard to get back. Wallets show 0x32 (`M…`) since 2017.
 */
const LITECOIN: AddressFormat = {
  name: 'Litecoin',
  main: { bech32: 'ltc', base58: [0x30, 0x32] },
  test: { bech32: 'tltc', base58: [0x6f, 0x3a] },
  regtest: { bech32: 'rltc', base58: [0x6f, 0x3a] },
};

/** The first 2^16 addresses: the zero one, the chains' own contracts, and room for more of these. */
const RESERVED_ADDRESS = /^0x0{36}/;

/**
 * Checks an address that a payout shall go to: that it belongs to `network`, that its checksum is right, and that what is
 * sent there can be spent. The answer's address is in the network's usual form (EIP-55, lowercase bech32). Addresses must be
 * those of `chain`, as far as they tell chains apart; EVM test chains have no addresses of their own. `contracts` are tokens'
 * on this network, beside the well-known ones: what is sent to a token's own contract is lost.
 */
export function checkPayoutAddress(
  network: Network,
  text: string,
  chain: PayoutChain,
  contracts: readonly string[] = [],
): AddressCheck {
  const address = text.trim();
  switch (network) {
    case 'bitcoin':
      return checkFormat(BITCOIN, LITECOIN, address, chain);
    case 'litecoin':
      return checkFormat(LITECOIN, BITCOIN, address, chain);
    case 'ethereum':
    case 'polygon':
    case 'base':
    case 'arbitrum':
    case 'bsc':
      return checkEvm(network, address, contracts);
  }
}

function checkEvm(network: EvmNetwork, text: string, contracts: readonly string[]): AddressCheck {
  const checked = parseEvmAddress(text);
  if (checked.kind === 'bad') return checked;
  const { address } = checked;
  const tokens = [...contracts, ...EVM_TOKENS[network].values().map(({ contract }) => contract)];
  const isToken = tokens.some((contract) => toChecksumAddress(contract) === address);
  const what = /^0x0{40}$/.test(address)
    ? 'the zero address'
    : RESERVED_ADDRESS.test(address)
      ? 'an address that is reserved for the chain itself'
      : isToken
        ? 'the contract of a token, not a wallet'
        : isDepositMachinery(address)
          ? 'a contract that makes deposits, not a wallet'
          : null;
  if (what === null) return checked;
  const message = `This is ${what}: whatever is sent there is lost. Give the address of your wallet.`;
  return { kind: 'bad', message, deadEnd: true };
}

/**
 * The form in which an address is stored and compared with what blocks show: EVM addresses in lowercase hex, because
 * nodes write them so and the letters' case is only a checksum; all others as they are. Takes a valid address.
 */
export function matchingAddress(network: Network, address: string): string {
  return network === 'bitcoin' || network === 'litecoin' ? address : address.toLowerCase();
}

/** The reverse of `matchingAddress`: the form in which customers are shown an address. */
export function shownAddress(network: Network, address: string): string {
  return network === 'bitcoin' || network === 'litecoin' ? address : toChecksumAddress(address);
}

function checkFormat(format: AddressFormat, kin: AddressFormat, address: string, chain: PayoutChain): AddressCheck {
  const decoded = decode(address);
  if (!decoded) {
    return bad(`This is not a ${format.name} address, or a character of it is wrong. Copy it again.`);
  }
  if (prefixesOf(format, chain).some((prefixes) => belongsTo(decoded, prefixes))) {
    return decoded.kind === 'bech32' ? checkWitnessProgram(decoded) : { kind: 'ok', address };
  }
  if (belongsTo(decoded, kin.main)) {
    return bad(`This is a ${kin.name} address. Give a ${format.name} address.`);
  }
  const isOwn = prefixesOf(format, 'any').some((prefixes) => belongsTo(decoded, prefixes));
  if (!isOwn && !prefixesOf(kin, 'any').some((prefixes) => belongsTo(decoded, prefixes))) {
    return bad(`This is an address of another network. Give a ${format.name} address.`);
  }
  if (chain === 'main') {
    return bad(`This is an address of a test network. Give an address of ${format.name}'s main network.`);
  }
  if (!isOwn || chain === 'any') return bad(`This is a ${kin.name} address. Give a ${format.name} address.`);
  const is = belongsTo(decoded, format.main) ? `${format.name}'s main network` : 'another test network';
  const [wanted] = prefixesOf(format, chain).map(({ bech32: prefix }) => `${prefix}1…`);
  return bad(`This is an address of ${is}. Give an address of ${format.name}'s chain "${chain}", such as ${wanted}.`);
}

function prefixesOf(format: AddressFormat, chain: PayoutChain): readonly AddressPrefixes[] {
  switch (chain) {
    case 'main':
      return [format.main];
    case 'test':
    case 'testnet4':
    case 'signet':
      return [format.test];
    case 'regtest':
      return [format.regtest];
    case 'any':
      return [format.main, format.test, format.regtest];
  }
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
  // The limit of BIP 173. Decoding base58 takes quadratic time, so nothing longer may come near it.
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
 * BIP 173 and BIP 350: version 0 in bech32 with 20 or 32 bytes, version 1 (Taproot) in bech32m with 32 bytes. Versions and
 * lengths without rules yet are refused: anyone could spend what is sent there.
 */
function checkWitnessProgram(decoded: Decoded & { kind: 'bech32' }): AddressCheck {
  const damaged = bad('A character of the address is wrong, or it is cut short. Copy it again.');
  const [version, ...words] = decoded.words;
  const program = bech32.fromWordsUnsafe(words);
  if (version === undefined || !program) return damaged;
  if (version > 1) return bad('The address is of a kind that is not in use yet. Give a SegWit or Taproot address.');
  if (decoded.encoding !== (version === 0 ? 'bech32' : 'bech32m')) return damaged;
  const length = program.length;
  const fits = version === 0 ? length === 20 || length === 32 : length === 32;
  return fits ? { kind: 'ok', address: decoded.address } : damaged;
}

function bad(message: string): AddressCheck {
  return { kind: 'bad', message };
}
