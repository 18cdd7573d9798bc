import { HDKey } from '@scure/bip32';
import type { TextValues } from '../../domain/refusal-values.ts';
import { invalid, sentence, type Invalid } from '../../domain/sentence.ts';
import type { WalletDeriver } from '../chain.ts';
import { childKey, publicNode } from '../public-key.ts';
import { secretKeyRefusal } from '../secret-key.ts';
import { addressOfPublicKey } from './address.ts';

export type XpubCheck = { readonly kind: 'ok'; readonly xpub: string; readonly deriver: WalletDeriver } | Invalid;

const wayOut = sentence('way_out_evm_key');

/** Depth of the account in BIP 44: m / purpose' / coin type' / account'. The chain and the address come below it. */
const ACCOUNT_DEPTH = 3;
const EXTERNAL_CHAIN_DEPTH = 4;
const EXTERNAL_CHAIN = 0;

/** Other kinds of extended keys, by their first four letters (SLIP-132 and the coins' own chain parameters). */
const OTHER_KEYS: Readonly<Record<string, Extract<keyof TextValues, `key_not_evm_${string}`>>> = {
  ypub: 'key_not_evm_wrapped',
  zpub: 'key_not_evm_segwit',
  Ypub: 'key_not_evm_multisig',
  Zpub: 'key_not_evm_multisig',
  tpub: 'key_not_evm_testnet',
  upub: 'key_not_evm_bitcoin_testnet',
  vpub: 'key_not_evm_bitcoin_testnet',
  Upub: 'key_not_evm_bitcoin_testnet',
  Vpub: 'key_not_evm_bitcoin_testnet',
  Ltub: 'key_not_evm_litecoin',
  Mtub: 'key_not_evm_litecoin',
  ttub: 'key_not_evm_litecoin_testnet',
};

/**
 * Checks the extended public key of an EVM wallet. Accepted: `xpub…` of a BIP 44 account (depth 3, payments go to `0/i`
 * below it) or of its external chain (depth 4, payments go to `i` below it). Private keys are recognised first and
 * refused. No fault repeats any part of the input.
 */
export function parseEvmXpub(text: string): XpubCheck {
  const xpub = text.trim();
  const secret = secretKeyRefusal(xpub, wayOut);
  if (secret) return secret;
  const wrong = wrongKind(xpub);
  if (wrong) return wrong;
  const key = readKey(xpub);
  if (!key) return invalid('key_damaged');
  return wrongDepth(key) ?? { kind: 'ok', xpub, deriver: createDeriver(key) };
}

function wrongKind(text: string): Invalid | null {
  if (text === '') return invalid('key_empty', { wayOut });
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return invalid('key_is_address', { wayOut });
  const other = OTHER_KEYS[text.slice(0, 4)];
  if (other) return invalid(other, { wayOut });
  return text.startsWith('xpub') ? null : invalid('key_prefix_evm', { wayOut });
}

/** Null: not the 78 bytes of BIP 32 with a valid checksum, or not a point on the curve. */
function readKey(xpub: string): HDKey | null {
  try {
    return HDKey.fromExtendedKey(xpub);
  } catch {
    return null;
  }
}

function wrongDepth(key: HDKey): Invalid | null {
  if (key.depth === ACCOUNT_DEPTH) return null;
  if (key.depth !== EXTERNAL_CHAIN_DEPTH) {
    return invalid('key_depth', { depth: key.depth, account: ACCOUNT_DEPTH, wayOut });
  }
  // A wallet shows no money on another chain of the account, so the merchant would not see it.
  return key.index === EXTERNAL_CHAIN ? null : invalid('key_chain', { chain: chainName(key.index), wayOut });
}

function chainName(index: number): string {
  return index < 2 ** 31 ? String(index) : `${index - 2 ** 31}'`;
}

function createDeriver(key: HDKey): WalletDeriver {
  const node = publicNode(key);
  const chain = key.depth === ACCOUNT_DEPTH ? childKey(node, EXTERNAL_CHAIN) : node;
  return { addressAt: (index) => addressOfPublicKey(childKey(chain, index).publicKey) };
}
