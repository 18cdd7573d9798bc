import { OutScript } from '@scure/btc-signer';
import type { WalletOutput } from './output.ts';
import { NETWORK_FACTS, type UtxoNetwork } from '../../domain/networks.ts';

/** Version and lock time, in weight units; a byte outside the witness weighs 4 (BIP 141). */
const FRAME_WEIGHT = 4 * 8;
/** SegWit's marker and flag. */
const SEGWIT_WEIGHT = 2;
/** Transaction id, output index and sequence of an input. */
const OUTPOINT_BYTES = 40;
/** The maximum, for a DER signature with low S and its type byte; wallets that also grind for a low R save one byte. */
const SIGNATURE_BYTES = 72;
const SCHNORR_SIGNATURE_BYTES = 64;
const PUBLIC_KEY_BYTES = 33;
/** One byte for the length of short items. */
const LENGTH_BYTE = 1;

/**
 * Virtual bytes of a signed transaction that spends `inputs` and pays to these scripts: an upper limit, about a byte
 * too high for each signature that comes out shorter.
 */
export function transactionVsize(inputs: readonly WalletOutput[], outputScripts: readonly Uint8Array[]): number {
  const segwit = inputs.some(({ scriptType }) => scriptType !== 'p2pkh');
  const weight =
    FRAME_WEIGHT +
    4 * countBytes(inputs.length) +
    4 * countBytes(outputScripts.length) +
    (segwit ? SEGWIT_WEIGHT : 0) +
    sum(inputs.map((input) => 4 * scriptedInputBytes(input) + (segwit ? witnessBytes(input) : 0))) +
    4 * sum(outputScripts.map(outputBytes));
  return Math.ceil(weight / 4);
}

/**
 * The smallest amount that nodes relay to this script: the cost of spending it at their dust rate (`GetDustThreshold`).
 */
export function dustUnits(network: UtxoNetwork, script: Uint8Array): bigint {
  const { type } = OutScript.decode(script);
  const witness = type === 'wpkh' || type === 'wsh' || type === 'tr' || type === 'tr_ns' || type === 'p2a';
  const bytes = outputBytes(script) + (witness ? 67 : 148);
  return (BigInt(bytes) * NETWORK_FACTS[network].dustUnitsPerKvb) / 1_000n;
}

function scriptedInputBytes({ scriptType, redeemScript }: WalletOutput): number {
  const scriptBytes = {
    p2pkh: pushed(SIGNATURE_BYTES) + pushed(PUBLIC_KEY_BYTES),
    'p2sh-p2wpkh': pushed(redeemScript?.length ?? 0),
    p2wpkh: 0,
    p2tr: 0,
    p2wsh: 0,
  }[scriptType];
  return OUTPOINT_BYTES + LENGTH_BYTE + scriptBytes;
}

function witnessBytes({ scriptType, threshold, witnessScript }: WalletOutput): number {
  switch (scriptType) {
    case 'p2pkh':
      return LENGTH_BYTE;
    case 'p2wpkh':
    case 'p2sh-p2wpkh':
      return LENGTH_BYTE + pushed(SIGNATURE_BYTES) + pushed(PUBLIC_KEY_BYTES);
    case 'p2tr':
      return LENGTH_BYTE + pushed(SCHNORR_SIGNATURE_BYTES);
    case 'p2wsh': {
      const scriptLength = witnessScript?.length ?? 0;
      // CHECKMULTISIG takes one item too many from the stack, so it gets an empty one.
      return LENGTH_BYTE + LENGTH_BYTE + threshold * pushed(SIGNATURE_BYTES) + countBytes(scriptLength) + scriptLength;
    }
  }
}

function outputBytes(script: Uint8Array): number {
  return 8 + countBytes(script.length) + script.length;
}

function pushed(bytes: number): number {
  return LENGTH_BYTE + bytes;
}

/** The size of Bitcoin's variable-length count (CompactSize). */
function countBytes(count: number): number {
  return count < 0xfd ? 1 : count <= 0xffff ? 3 : 5;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
