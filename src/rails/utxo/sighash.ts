import { Script, type Transaction } from '@scure/btc-signer';
import { sentence, type Sentence } from '../../domain/sentence.ts';
import type { ScriptType } from '../family.ts';

/** BIP 341: signs the same as SIGHASH_ALL. */
const SIGHASH_DEFAULT = 0x00;
const SIGHASH_ALL = 0x01;
const ANYONE_CAN_PAY = 0x80;
const NAMES = new Map([
  [0x01, 'SIGHASH_ALL'],
  [0x02, 'SIGHASH_NONE'],
  [0x03, 'SIGHASH_SINGLE'],
]);
/** Bytes of a Schnorr signature, to which the sighash type is appended if it is not the default (BIP 341). */
const SCHNORR_BYTES = 64;

/** An input, as PSBTs and transactions contain it. */
export type SignedInput = Pick<
  ReturnType<Transaction['getInput']>,
  'partialSig' | 'tapKeySig' | 'tapScriptSig' | 'sighashType' | 'finalScriptSig' | 'finalScriptWitness'
>;

/**
 * The changes that one input's signatures leave open to others, as the end of a sentence; null if none. Only
 * SIGHASH_ALL and Taproot's default commit to every input and output; under any other type, anybody who sees the
 * transaction before it is mined can send the money elsewhere. Every signature counts, even one that finalizing would
 * leave out. Final fields are read in the form of `scriptType`, and refused in any other form. An input without any
 * signature is no fault here.
 */
export function sighashFault(input: SignedInput, scriptType: ScriptType): Sentence | null {
  const isTaproot = scriptType === 'p2tr';
  const signatures = [
    ...(input.partialSig ?? []).map(([, signature]) => signature),
    ...(input.tapKeySig === undefined ? [] : [input.tapKeySig]),
    ...(input.tapScriptSig ?? []).map(([, signature]) => signature),
  ];
  const final = finalSignatures(input, scriptType);
  if (final === null) return sentence('signature_unreadable');
  for (const signature of [...signatures, ...final]) {
    const type = isTaproot ? schnorrType(signature) : (signature.at(-1) ?? null);
    if (type === null) return sentence('signature_unreadable');
    if (!commitsToAll(type, isTaproot)) return sentence('signed_with', { sighash: sighashName(type) });
  }
  const { sighashType } = input;
  const isAsked = sighashType === undefined || commitsToAll(sighashType, isTaproot);
  return isAsked ? null : sentence('asks_to_be_signed', { sighash: sighashName(sighashType) });
}

function commitsToAll(type: number, isTaproot: boolean): boolean {
  return type === SIGHASH_ALL || (isTaproot && type === SIGHASH_DEFAULT);
}

/** The sighash type of a Schnorr signature; null if it is none. */
function schnorrType(signature: Uint8Array): number | null {
  if (signature.length === SCHNORR_BYTES) return SIGHASH_DEFAULT;
  const type = signature.length === SCHNORR_BYTES + 1 ? signature.at(-1) : undefined;
  // Nodes refuse the default if it is written out.
  return type === undefined || type === SIGHASH_DEFAULT ? null : type;
}

/**
 * The signatures in the fields that a node reads; empty if the input is not final. Null if the fields do not have the
 * form of such an output.
 */
function finalSignatures(
  { finalScriptSig = new Uint8Array(), finalScriptWitness: witness = [] }: SignedInput,
  scriptType: ScriptType,
): readonly Uint8Array[] | null {
  if (finalScriptSig.length === 0 && witness.length === 0) return [];
  const pushed = pushesOf(finalScriptSig);
  if (pushed === null) return null;
  const [first] = witness;
  switch (scriptType) {
    case 'p2pkh':
      return witness.length === 0 && pushed.length === 2 ? pushed.slice(0, 1) : null;
    case 'p2sh-p2wpkh':
      return pushed.length === 1 && witness.length === 2 ? witness.slice(0, 1) : null;
    case 'p2wpkh':
      return pushed.length === 0 && witness.length === 2 ? witness.slice(0, 1) : null;
    case 'p2wsh':
      // An empty item, each signature, the script.
      return pushed.length === 0 && witness.length >= 3 && first?.length === 0 ? witness.slice(1, -1) : null;
    case 'p2tr':
      return pushed.length === 0 && witness.length === 1 ? witness : null;
  }
}

/** The items that a script pushes; null if the script does anything else. */
function pushesOf(script: Uint8Array): readonly Uint8Array[] | null {
  try {
    const items = Script.decode(script);
    const pushed = items.filter((item) => item instanceof Uint8Array);
    return pushed.length === items.length ? pushed : null;
  } catch {
    return null;
  }
}

function sighashName(type: number): string | Sentence {
  const name = NAMES.get(type & ~ANYONE_CAN_PAY);
  if (name === undefined) return sentence('sighash_type', { type: `0x${type.toString(16).padStart(2, '0')}` });
  return (type & ANYONE_CAN_PAY) === 0 ? name : `${name}|ANYONECANPAY`;
}
