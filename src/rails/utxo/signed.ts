import { Transaction } from '@scure/btc-signer';
import { invalid, type Invalid, type Sentence } from '../../domain/sentence.ts';
import type { Outpoint } from './caller.ts';
import type { WalletOutput } from './output.ts';
import { spendingFields } from './psbt.ts';
import { sighashFault } from './sighash.ts';

/** An output of the transaction, in the smallest units. */
export interface SignedOutput {
  readonly script: Uint8Array;
  readonly units: bigint;
}

/** A transaction that somebody signed, perhaps in part. */
export interface SignedTransaction {
  readonly inputs: readonly Outpoint[];
  readonly outputs: readonly SignedOutput[];
  /**
   * The inputs that others could change despite the signatures. Call this before `complete`, with the same `known`;
   * unknown inputs are left out.
   */
  openInputs(known: readonly (SpentOutput | null)[]): readonly OpenInput[];
  /**
   * The transaction in the form that nodes accept. `known` are the outputs that it spends, by its inputs; null for an
   * unknown one.
   */
  complete(known: readonly (SpentOutput | null)[]): CompleteTransaction | UnsignedInputs | InvalidTransaction;
}

/** An input whose signature does not commit to the whole transaction. */
export interface OpenInput {
  /** The index of the input, from 0. */
  readonly place: number;
  /** The end of a sentence that begins with the input. */
  readonly fault: Sentence;
}

/** Why it cannot become a transaction that nodes accept, in the words of the library that reads it. */
export interface InvalidTransaction {
  readonly kind: 'invalid';
  readonly reason: string;
}

/** An output that is spent. */
export interface SpentOutput {
  readonly output: WalletOutput;
  readonly amountUnits: bigint;
  /** The whole transaction of the output, in hex; needed only for P2PKH. */
  readonly rawTransaction: string | null;
}

export interface CompleteTransaction {
  readonly kind: 'complete';
  readonly txid: string;
  readonly hex: string;
  readonly vsize: number;
}

export interface UnsignedInputs {
  readonly kind: 'unsigned';
  /** Each input that lacks signatures: its index from 0, and how many of the needed signatures it has. */
  readonly inputs: readonly { readonly place: number; readonly has: number; readonly needs: number }[];
}

export type SignedReading = { readonly kind: 'ok'; readonly signed: SignedTransaction } | Invalid;

/** The longest text that is read: a PSBT of 1.5 MB in base64. Longer texts are refused unread. */
export const MAX_SIGNED_LENGTH = 2_000_000;
/** BIP 174. */
const PSBT_MAGIC = Buffer.from('70736274ff', 'hex');
/** Allows any outputs and inputs: they are compared afterwards. */
const ANY = {
  allowUnknownOutputs: true,
  allowUnknownInputs: true,
  allowUnknownVersion: true,
  disableScriptCheck: true,
};

/**
 * Reads the transaction that a wallet returns: a PSBT with all or some signatures, final or not (BIP 174 and 370), or
 * the finished transaction, each in base64 or hex.
 */
export function readSigned(text: string): SignedReading {
  if (text.length > MAX_SIGNED_LENGTH) return invalid('signed_too_long', { max: MAX_SIGNED_LENGTH / 1_000_000 });
  const bytes = bytesOf(text.replaceAll(/\s/g, ''));
  if (bytes === null) return invalid('signed_no_encoding');
  const isPsbt = bytes.subarray(0, PSBT_MAGIC.length).equals(PSBT_MAGIC);
  try {
    const transaction = isPsbt ? Transaction.fromPSBT(bytes, ANY) : Transaction.fromRaw(bytes, ANY);
    return { kind: 'ok', signed: isPsbt ? ofPsbt(transaction) : ofRaw(transaction, bytes) };
  } catch {
    return invalid(isPsbt ? 'signed_cut_off' : 'signed_no_transaction');
  }
}

function bytesOf(text: string): Buffer | null {
  if (text === '') return null;
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) return Buffer.from(text, 'hex');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : null;
}

function partsOf(transaction: Transaction): Omit<SignedTransaction, 'complete'> {
  const places = (length: number): readonly number[] => Array.from({ length }, (_, place) => place);
  return {
    inputs: places(transaction.inputsLength).map((place) => {
      const { txid, index } = transaction.getInput(place);
      if (txid === undefined || index === undefined) throw new Error('an input without an outpoint');
      return { txid: Buffer.from(txid).toString('hex'), vout: index };
    }),
    outputs: places(transaction.outputsLength).map((place) => {
      const { script, amount } = transaction.getOutput(place);
      if (script === undefined || amount === undefined) throw new Error('an output without a script or an amount');
      return { script, units: amount };
    }),
    openInputs: (known) =>
      places(transaction.inputsLength).flatMap((place) => {
        const scriptType = known[place]?.output.scriptType;
        const fault = scriptType === undefined ? null : sighashFault(transaction.getInput(place), scriptType);
        return fault === null ? [] : [{ place, fault }];
      }),
  };
}

function ofRaw(transaction: Transaction, bytes: Buffer): SignedTransaction {
  const parts = partsOf(transaction);
  return {
    ...parts,
    complete: orInvalid((known) => {
      const inputs = parts.inputs.flatMap((_, place) => {
        const { finalScriptSig, finalScriptWitness } = transaction.getInput(place);
        const isSigned = (finalScriptSig?.length ?? 0) + (finalScriptWitness?.length ?? 0) > 0;
        return isSigned ? [] : [{ place, has: 0, needs: known[place]?.output.threshold ?? 1 }];
      });
      return inputs.length > 0 ? { kind: 'unsigned', inputs } : completed(transaction, bytes.toString('hex'));
    }),
  };
}

function ofPsbt(transaction: Transaction): SignedTransaction {
  const parts = partsOf(transaction);
  return {
    ...parts,
    complete: orInvalid((known) => {
      const inputs = parts.inputs.flatMap((_, place) => {
        const spent = known[place] ?? null;
        if (spent !== null) addWhatIsMissing(transaction, place, spent);
        const has = signaturesOf(transaction, place);
        return finalize(transaction, place) ? [] : [{ place, has, needs: spent?.output.threshold ?? 1 }];
      });
      if (inputs.length > 0) return { kind: 'unsigned', inputs };
      return completed(transaction, Buffer.from(transaction.extract()).toString('hex'));
    }),
  };
}

/** The library throws for texts that it does not accept, and somebody pasted the text. */
function orInvalid(complete: SignedTransaction['complete']): SignedTransaction['complete'] {
  return (known) => {
    try {
      return complete(known);
    } catch (error) {
      return { kind: 'invalid', reason: error instanceof Error ? error.message : String(error) };
    }
  };
}

function completed(transaction: Transaction, hex: string): CompleteTransaction {
  return { kind: 'complete', txid: transaction.id, hex, vsize: transaction.vsize };
}

/** Adds the fields of the PSBT that some wallets leave out when they return only signatures. */
function addWhatIsMissing(transaction: Transaction, place: number, spent: SpentOutput): void {
  const { witnessUtxo, nonWitnessUtxo, finalScriptSig, finalScriptWitness } = transaction.getInput(place);
  const isFinal = finalScriptSig !== undefined || finalScriptWitness !== undefined;
  if (isFinal || witnessUtxo !== undefined || nonWitnessUtxo !== undefined) return;
  const { output, amountUnits, rawTransaction } = spent;
  const utxo =
    output.scriptType === 'p2pkh'
      ? { nonWitnessUtxo: Buffer.from(rawTransaction ?? '', 'hex') }
      : { witnessUtxo: { script: output.script, amount: amountUnits } };
  transaction.updateInput(place, { ...spendingFields(output), ...utxo });
}

function signaturesOf(transaction: Transaction, place: number): number {
  const { partialSig, tapKeySig } = transaction.getInput(place);
  return (partialSig?.length ?? 0) + (tapKeySig === undefined ? 0 : 1);
}

/** Whether the input has all signatures. The node checks whether they are right. */
function finalize(transaction: Transaction, place: number): boolean {
  const { finalScriptSig, finalScriptWitness } = transaction.getInput(place);
  if ((finalScriptSig?.length ?? 0) + (finalScriptWitness?.length ?? 0) > 0) return true;
  try {
    transaction.finalizeIdx(place);
    return true;
  } catch {
    return false;
  }
}
