import { hash } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { Address, OutScript, p2ms, p2tr } from '@scure/btc-signer';
import type { UtxoParams } from './params.ts';
import type { ScriptType } from '../family.ts';

/** A key that can spend an output, with its place in the owner's wallet. */
export interface OutputKey {
  /** Compressed, 33 bytes. */
  readonly publicKey: Uint8Array;
  /** First four bytes of the hash of the key at the start of the path: the wallet's master key if it is known. */
  readonly fingerprint: number;
  /** Steps of BIP 32; hardened ones are 2^31 or more. */
  readonly path: readonly number[];
}

/** An output of a wallet, with the data that its owner needs to spend it. */
export interface WalletOutput {
  readonly scriptType: ScriptType;
  readonly address: string;
  /** The scriptPubKey in blocks. */
  readonly script: Uint8Array;
  /** The script whose hash a P2SH address is. */
  readonly redeemScript: Uint8Array | null;
  /** The script whose hash a P2WSH address is. */
  readonly witnessScript: Uint8Array | null;
  /** How many of the keys must sign. */
  readonly threshold: number;
  readonly keys: readonly OutputKey[];
}

type OutputScripts = Pick<WalletOutput, 'script' | 'redeemScript' | 'witnessScript'>;

/** The output script of these keys (one, except for `p2wsh`). */
export function outputScripts(
  scriptType: ScriptType,
  threshold: number,
  publicKeys: readonly Uint8Array[],
): OutputScripts {
  const [publicKey] = publicKeys;
  if (!publicKey) throw new Error('an output without a key');
  switch (scriptType) {
    case 'p2pkh':
      return plain(OutScript.encode({ type: 'pkh', hash: hash160(publicKey) }));
    case 'p2wpkh':
      return plain(OutScript.encode({ type: 'wpkh', hash: hash160(publicKey) }));
    case 'p2tr':
      // One key and no scripts (BIP 86); its 32 bytes are the x coordinate.
      return plain(p2tr(publicKey.subarray(1)).script);
    case 'p2sh-p2wpkh': {
      const redeemScript = OutScript.encode({ type: 'wpkh', hash: hash160(publicKey) });
      return { ...plain(OutScript.encode({ type: 'sh', hash: hash160(redeemScript) })), redeemScript };
    }
    case 'p2wsh': {
      const sorted = publicKeys.toSorted((a, b) => Buffer.compare(a, b));
      const witnessScript = p2ms(threshold, sorted).script;
      return { ...plain(OutScript.encode({ type: 'wsh', hash: sha256(witnessScript) })), witnessScript };
    }
  }
}

/** The address of a script; throws if the script has none. */
export function addressOfScript(params: UtxoParams, script: Uint8Array): string {
  return Address(params.address).encode(OutScript.decode(script));
}

/** The script of an address; throws if the text is no address of this network and chain. */
export function scriptOfAddress(params: UtxoParams, address: string): Uint8Array {
  try {
    return OutScript.encode(Address(params.address).decode(address));
  } catch (cause) {
    throw new Error(`not an address of ${params.network} ${params.chain}`, { cause });
  }
}

/** SHA-256, then RIPEMD-160: the hash by which scripts and BIP 32 identify keys. */
export function hash160(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(hash('ripemd160', hash('sha256', bytes, 'buffer'), 'buffer'));
}

function plain(script: Uint8Array): OutputScripts {
  return { script, redeemScript: null, witnessScript: null };
}
