import { NETWORK_FACTS } from '../../domain/networks.ts';
import { invalid, type Invalid } from '../../domain/sentence.ts';
import type { WalletDeriver } from '../chain.ts';
import { secretKeyRefusal } from '../secret-key.ts';
import { childKey, HARDENED, publicNode, type PublicNode } from '../public-key.ts';
import {
  changeSteps,
  formatDescriptor,
  parseDescriptor,
  receiveSteps,
  type Descriptor,
  type DescriptorKey,
} from './descriptor.ts';
import { readExtendedKey, wayOutOf, type ExtendedKey } from './extended-key.ts';
import { addressOfScript, outputScripts, type WalletOutput } from './output.ts';
import type { ScriptType } from '../family.ts';
import type { UtxoParams } from './params.ts';

/** The source of a wallet's addresses, as the merchant gives it. */
export interface UtxoWalletSource {
  readonly kind: 'xpub' | 'descriptor';
  readonly text: string;
}

/**
 * A wallet's addresses, with the data that its owner needs to spend the received money. Throws RangeError as
 * `addressAt` does.
 */
export interface UtxoDeriver extends WalletDeriver {
  /** The receiving output with this index. */
  outputAt(index: number): WalletOutput;
  /**
   * The change output number `index`, whose address no customer is asked to pay; null if it is unknown whether the
   * wallet looks for change, and on which chain.
   */
  changeAt(index: number): WalletOutput | null;
}

/** The known facts about spending from a wallet. */
export interface SpendingFacts {
  readonly scriptType: ScriptType;
  /** Whether every key names its master key and path: hardware wallets sign for no other keys. */
  readonly hasOrigins: boolean;
  readonly hasChange: boolean;
}

export type UtxoWalletCheck =
  | {
      readonly kind: 'ok';
      /** The text to store: it parses to the same wallet. */
      readonly source: string;
      readonly scriptType: ScriptType;
      /** The wallet as a descriptor with checksum, the same for every form of its source. */
      readonly descriptor: string;
      /** A warning for the merchant before trusting the addresses; null if there is none. */
      readonly note: string | null;
      readonly spending: SpendingFacts;
      readonly deriver: UtxoDeriver;
    }
  | Invalid;

/** Depth of the account in BIP 44: m / purpose' / coin type' / account'. The chain and the address come below it. */
const ACCOUNT_DEPTH = 3;
const EXTERNAL_CHAIN_DEPTH = 4;
/** The depth of the account of Electrum's own SegWit seeds: m/0'. */
const ELECTRUM_DEPTH = 1;
const EXTERNAL_CHAIN = 0;
const CHANGE_CHAIN = 1;

/**
 * Checks the source of a UTXO wallet: an extended public key, whose version bytes name its address type (SLIP-132; a
 * plain xpub means P2PKH), or an output descriptor. Private keys are recognised first and refused. No fault repeats
 * any part of the input.
 */
export function parseUtxoWallet(params: UtxoParams, { kind, text }: UtxoWalletSource): UtxoWalletCheck {
  const trimmed = text.trim();
  const secret = secretKeyRefusal(trimmed, wayOutOf(params));
  if (secret) return secret;
  return kind === 'xpub' ? parseXpub(params, trimmed) : parseDescriptorWallet(params, trimmed);
}

function parseXpub(params: UtxoParams, text: string): UtxoWalletCheck {
  if (/[()]/.test(text)) return invalid('key_is_descriptor');
  if (text.startsWith('[')) return invalid('key_with_origin');
  const read = readExtendedKey(params, text);
  if (read.kind === 'invalid') return read;
  const { key } = read;
  const { scriptType } = key.version;
  if (scriptType === 'p2wsh' || scriptType === 'p2sh-p2wsh') return invalid('key_of_multisig');
  const wrong = wrongDepth(params, key);
  if (wrong) return wrong;
  const steps = key.node.depth === EXTERNAL_CHAIN_DEPTH ? [] : [{ receive: EXTERNAL_CHAIN, change: CHANGE_CHAIN }];
  const descriptor = { scriptType, threshold: 1, keys: [{ origin: null, key, steps }] };
  return {
    kind: 'ok',
    source: text,
    scriptType,
    descriptor: formatDescriptor(descriptor),
    note: scriptType === 'p2pkh' ? plainKeyNote(params, key) : null,
    spending: spendingFacts(descriptor),
    deriver: createDeriver(params, descriptor),
  };
}

function parseDescriptorWallet(params: UtxoParams, text: string): UtxoWalletCheck {
  const parsed = parseDescriptor(params, text);
  if (parsed.kind === 'invalid') return parsed;
  const canonical = formatDescriptor(parsed.descriptor);
  return {
    kind: 'ok',
    source: canonical,
    scriptType: parsed.descriptor.scriptType,
    descriptor: canonical,
    note: null,
    spending: spendingFacts(parsed.descriptor),
    deriver: createDeriver(params, parsed.descriptor),
  };
}

/** A master key is its own origin. */
function spendingFacts({ scriptType, keys }: Descriptor): SpendingFacts {
  return {
    scriptType,
    hasOrigins: keys.every(({ origin, key }) => origin !== null || key.node.depth === 0),
    hasChange: openChange(keys) !== null,
  };
}

function wrongDepth(params: UtxoParams, { node: { depth, index }, version }: ExtendedKey): Invalid | null {
  if (depth === ACCOUNT_DEPTH) return null;
  if (depth === ELECTRUM_DEPTH && version.scriptType === 'p2wpkh' && index === HARDENED) return null;
  const wayOut = wayOutOf(params);
  if (depth !== EXTERNAL_CHAIN_DEPTH) return invalid('key_depth_utxo', { depth, account: ACCOUNT_DEPTH, wayOut });
  // A wallet shows no money on another chain of the account, and uses chain 1 for its own change.
  return index === EXTERNAL_CHAIN ? null : invalid('key_chain', { chain: chainName(index), wayOut });
}

function chainName(index: number): string {
  return index < HARDENED ? String(index) : `${index - HARDENED}'`;
}

function plainKeyNote({ network, chain, address }: UtxoParams, { version }: ExtendedKey): string {
  const legacy = chain !== 'main' ? 'm… or n…' : NETWORK_FACTS[network].legacyPrefix;
  return (
    `Keys that begin with ${version.prefix} do not say which addresses the wallet uses. They count as keys of P2PKH addresses (${legacy}), as SLIP-132 defines. ` +
    `If your wallet shows other addresses, set the wallet as a descriptor: "wpkh(KEY/0/*)" for ${address.bech32}1q…, "sh(wpkh(KEY/0/*))", or "tr(KEY/0/*)" for ${address.bech32}1p….`
  );
}

interface Branch {
  readonly node: PublicNode;
  readonly fingerprint: number;
  readonly path: readonly number[];
}

function createDeriver(params: UtxoParams, { scriptType, threshold, keys }: Descriptor): UtxoDeriver {
  // The nodes above the addresses are prepared once, so that an address takes one derivation per key.
  const receiving = keys.map((key) => openBranch(key, receiveSteps(key.steps)));
  const change = openChange(keys);

  function outputAt(branches: readonly Branch[], index: number): WalletOutput {
    const outputKeys = branches.map(({ node, fingerprint, path }) => ({
      publicKey: childKey(node, index).publicKey,
      fingerprint,
      path: [...path, index],
    }));
    const publicKeys = outputKeys.map(({ publicKey }) => publicKey);
    const scripts = outputScripts(scriptType, threshold, publicKeys);
    const address = addressOfScript(params, scripts.script);
    return { ...scripts, scriptType, threshold, keys: outputKeys, address };
  }

  return {
    addressAt: (index) => outputAt(receiving, index).address,
    outputAt: (index) => outputAt(receiving, index),
    changeAt: (index) => (change ? outputAt(change, index) : null),
  };
}

/** The change branches; null unless every key names its change chain. */
function openChange(keys: readonly DescriptorKey[]): readonly Branch[] | null {
  const branches = keys.flatMap((key) => {
    const steps = changeSteps(key.steps);
    return steps ? [openBranch(key, steps)] : [];
  });
  return branches.length === keys.length ? branches : null;
}

/** Without an origin, the key itself counts as the master key, as in Bitcoin Core. */
function openBranch({ origin, key }: DescriptorKey, steps: readonly number[]): Branch {
  return {
    node: steps.reduce(childKey, publicNode(key.node)),
    fingerprint: origin?.fingerprint ?? key.node.fingerprint,
    path: [...(origin?.path ?? []), ...steps],
  };
}
