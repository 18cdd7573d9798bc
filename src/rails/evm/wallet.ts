import { HDKey } from '@scure/bip32';
import type { WalletDeriver } from '../chain.ts';
import { childKey, publicNode } from '../public-key.ts';
import { secretKeyRefusal } from '../secret-key.ts';
import { addressOfPublicKey } from './address.ts';

export type XpubCheck =
  | { readonly kind: 'ok'; readonly xpub: string; readonly deriver: WalletDeriver }
  | { readonly kind: 'invalid'; readonly message: string };

const WAY_OUT = "Export the account's extended public key (xpub…, at m/44'/60'/0') from your wallet.";

/** Depth of the account in BIP 44: m / purpose' / coin type' / account'. The chain and the address come below it. */
const ACCOUNT_DEPTH = 3;
const EXTERNAL_CHAIN_DEPTH = 4;
const EXTERNAL_CHAIN = 0;

/** Other kinds of extended keys, by their first four letters (SLIP-132 and the coins' own chain parameters). */
const OTHER_KEYS: Readonly<Record<string, string>> = {
  ypub: 'a Bitcoin key for P2SH-wrapped SegWit addresses',
  zpub: 'a Bitcoin key for SegWit addresses',
  Ypub: 'a Bitcoin multisignature key',
  Zpub: 'a Bitcoin multisignature key',
  tpub: 'a testnet key',
  upub: 'a Bitcoin testnet key',
  vpub: 'a Bitcoin testnet key',
  Upub: 'a Bitcoin testnet key',
  Vpub: 'a Bitcoin testnet key',
  Ltub: 'a Litecoin key',
  Mtub: 'a Litecoin key',
  ttub: 'a Litecoin testnet key',
};

/**
 * Checks the extended public key of an EVM wallet. Accepted: `xpub…` of a BIP 44 account (depth 3, payments go to `0/i`
 * below it) or of its external chain (depth 4, payments go to `i` below it). Private keys are recognised first and
 * refused. No message repeats any part of the input.
 */
export function parseEvmXpub(text: string): XpubCheck {
  const xpub = text.trim();
  const secret = secretKeyRefusal(xpub, WAY_OUT);
  if (secret) return bad(secret);
  const wrongKind = wrongKindMessage(xpub);
  if (wrongKind) return bad(wrongKind);
  const key = readKey(xpub);
  if (!key) {
    return bad(
      'The extended public key is damaged. Its checksum does not match, or the key is cut short. Copy the whole key again.',
    );
  }
  const depthMessage = wrongDepthMessage(key);
  if (depthMessage) return bad(depthMessage);
  return { kind: 'ok', xpub, deriver: createDeriver(key) };
}

function wrongKindMessage(text: string): string | null {
  if (text === '') return `The extended public key is empty. ${WAY_OUT}`;
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) {
    return `This is a single address, but every payment needs its own address. ${WAY_OUT}`;
  }
  const other = OTHER_KEYS[text.slice(0, 4)];
  if (other) return `This is ${other}, not a key of an EVM wallet. ${WAY_OUT}`;
  return text.startsWith('xpub') ? null : `An extended public key begins with xpub. ${WAY_OUT}`;
}

/** Null: not the 78 bytes of BIP 32 with a valid checksum, or not a point on the curve. */
function readKey(xpub: string): HDKey | null {
  try {
    return HDKey.fromExtendedKey(xpub);
  } catch {
    return null;
  }
}

function wrongDepthMessage(key: HDKey): string | null {
  if (key.depth === ACCOUNT_DEPTH) return null;
  if (key.depth !== EXTERNAL_CHAIN_DEPTH) {
    return `This extended public key lies at depth ${key.depth}, but an account's key lies at depth ${ACCOUNT_DEPTH}. ${WAY_OUT}`;
  }
  // A wallet shows no money on another chain of the account, so the merchant would not see it.
  return key.index === EXTERNAL_CHAIN
    ? null
    : `This extended public key is for chain ${chainName(key.index)}, not for chain 0. ${WAY_OUT}`;
}

function chainName(index: number): string {
  return index < 2 ** 31 ? String(index) : `${index - 2 ** 31}'`;
}

function bad(message: string): XpubCheck {
  return { kind: 'invalid', message };
}

function createDeriver(key: HDKey): WalletDeriver {
  const node = publicNode(key);
  const chain = key.depth === ACCOUNT_DEPTH ? childKey(node, EXTERNAL_CHAIN) : node;
  return { addressAt: (index) => addressOfPublicKey(childKey(chain, index).publicKey) };
}
