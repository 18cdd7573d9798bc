import { HDKey } from '@scure/bip32';
import type { ScriptType } from '../family.ts';
import { NETWORK_FACTS, settingOf, type UtxoNetwork } from '../../domain/networks.ts';
import { invalid, sentence, type Invalid, type Sentence } from '../../domain/sentence.ts';
import { coinTypeOf, type UtxoParams } from './params.ts';

/** The meaning of the version bytes of an extended public key. */
export interface KeyVersion {
  /** The first four letters of the key. */
  readonly prefix: string;
  readonly version: number;
  readonly network: UtxoNetwork;
  /** `test` stands for the testnets, signet and regtest. */
  readonly chain: 'main' | 'test';
  /** Some wallets write `p2pkh` although they mean another type; descriptors use it for all types. */
  readonly scriptType: ScriptType | 'p2sh-p2wsh';
}

export interface ExtendedKey {
  readonly version: KeyVersion;
  readonly node: HDKey;
  /** The key in descriptors: with the version bytes of BIP 32. */
  readonly text: string;
}

export type ExtendedKeyCheck = { readonly kind: 'ok'; readonly key: ExtendedKey } | Invalid;

/** The registered version bytes: SLIP-132. */
const KEY_VERSIONS: readonly KeyVersion[] = [
  { prefix: 'xpub', version: 0x0488b21e, network: 'bitcoin', chain: 'main', scriptType: 'p2pkh' },
  { prefix: 'ypub', version: 0x049d7cb2, network: 'bitcoin', chain: 'main', scriptType: 'p2sh-p2wpkh' },
  { prefix: 'zpub', version: 0x04b24746, network: 'bitcoin', chain: 'main', scriptType: 'p2wpkh' },
  { prefix: 'Ypub', version: 0x0295b43f, network: 'bitcoin', chain: 'main', scriptType: 'p2sh-p2wsh' },
  { prefix: 'Zpub', version: 0x02aa7ed3, network: 'bitcoin', chain: 'main', scriptType: 'p2wsh' },
  { prefix: 'tpub', version: 0x043587cf, network: 'bitcoin', chain: 'test', scriptType: 'p2pkh' },
  { prefix: 'upub', version: 0x044a5262, network: 'bitcoin', chain: 'test', scriptType: 'p2sh-p2wpkh' },
  { prefix: 'vpub', version: 0x045f1cf6, network: 'bitcoin', chain: 'test', scriptType: 'p2wpkh' },
  { prefix: 'Upub', version: 0x024289ef, network: 'bitcoin', chain: 'test', scriptType: 'p2sh-p2wsh' },
  { prefix: 'Vpub', version: 0x02575483, network: 'bitcoin', chain: 'test', scriptType: 'p2wsh' },
  { prefix: 'Ltub', version: 0x019da462, network: 'litecoin', chain: 'main', scriptType: 'p2pkh' },
  { prefix: 'Mtub', version: 0x01b26ef6, network: 'litecoin', chain: 'main', scriptType: 'p2sh-p2wpkh' },
  { prefix: 'ttub', version: 0x0436f6e1, network: 'litecoin', chain: 'test', scriptType: 'p2pkh' },
];

/** The version bytes in descriptors, also on Litecoin: Litecoin Core kept Bitcoin's. */
const DESCRIPTOR_VERSIONS = { main: 0x0488b21e, test: 0x043587cf };

/** 78 bytes and a 4-byte checksum in base58. Decoding base58 takes quadratic time, so nothing longer is decoded. */
const MAX_KEY_LENGTH = 112;

const ADDRESS = /^(?:(?:bc|tb|bcrt|ltc|tltc|rltc|ltcmweb|tmweb)1[0-9a-z]+|[123LMmnQ][1-9A-HJ-NP-Za-km-z]{24,34})$/i;

/**
 * Parses an extended public key of a network and chain. Litecoin also accepts Bitcoin's version bytes, which many of
 * its wallets write; Bitcoin does not accept Litecoin's. No fault repeats any part of the input. The caller must
 * check for private keys before.
 */
export function readExtendedKey(params: UtxoParams, text: string): ExtendedKeyCheck {
  const version = KEY_VERSIONS.find(({ prefix }) => text.startsWith(prefix));
  if (!version) return unknownKey(params, text);
  const mismatch = wrongChain(params, version);
  if (mismatch) return mismatch;
  const key = decodeKey(text, version);
  return key ? { kind: 'ok', key } : invalid('key_damaged');
}

/** The key that a merchant should give for this network, as a sentence. */
export function wayOutOf(params: UtxoParams): Sentence {
  const key = params.chain === 'main' ? 'zpub' : 'vpub';
  return sentence('way_out_utxo_key', { key, coin: coinTypeOf(params) });
}

function unknownKey(params: UtxoParams, text: string): Invalid {
  const wayOut = wayOutOf(params);
  if (text === '') return invalid('key_empty', { wayOut });
  if (ADDRESS.test(text)) return invalid('key_is_address', { wayOut });
  if (/^(?:0[23])?[0-9a-fA-F]{64}$/.test(text)) return invalid('key_is_single', { wayOut });
  return invalid('key_prefix', { network: NETWORK_FACTS[params.network].label, ...acceptedPrefixes(params), wayOut });
}

function wrongChain({ network, chain }: UtxoParams, version: KeyVersion): Invalid | null {
  if (!isTaken(version, network)) {
    const [other, wanted] = [NETWORK_FACTS[version.network].label, NETWORK_FACTS[network].label];
    return invalid('key_other_network', { other, wanted, network: version.network });
  }
  if (version.chain === (chain === 'main' ? 'main' : 'test')) return null;
  const variable = settingOf(network, 'CHAIN');
  return version.chain === 'main' ? invalid('key_of_main', { variable, chain }) : invalid('key_of_test', { variable });
}

/** Wallets of Litecoin write Bitcoin's version bytes as well as their own. */
function isTaken(version: KeyVersion, network: UtxoNetwork): boolean {
  return version.network === network || version.network === 'bitcoin';
}

function acceptedPrefixes({ network, chain }: UtxoParams): { readonly prefixes: string; readonly last: string } {
  const family = chain === 'main' ? 'main' : 'test';
  const prefixes = KEY_VERSIONS.filter(
    (version) => version.chain === family && isTaken(version, network) && !version.scriptType.endsWith('p2wsh'),
  ).map(({ prefix }) => prefix);
  return { prefixes: prefixes.slice(0, -1).join(', '), last: prefixes.at(-1) ?? '' };
}

/** Null: not the 78 bytes of BIP 32 with a valid checksum, or not a point on the curve. */
function decodeKey(text: string, version: KeyVersion): ExtendedKey | null {
  if (text.length > MAX_KEY_LENGTH) return null;
  try {
    const node = HDKey.fromExtendedKey(text, versionBytes(version.version));
    const { depth, index, parentFingerprint, publicKey, chainCode } = node;
    if (publicKey === null || chainCode === null) return null;
    const versions = versionBytes(DESCRIPTOR_VERSIONS[version.chain]);
    const written = new HDKey({ depth, index, parentFingerprint, publicKey, chainCode, versions });
    return { version, node, text: written.publicExtendedKey };
  } catch {
    return null;
  }
}

/** The versions for the library, whose private version 0 matches no key. */
function versionBytes(version: number): { public: number; private: number } {
  return { public: version, private: 0 };
}
