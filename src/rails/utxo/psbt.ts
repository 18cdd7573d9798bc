import { NETWORK_FACTS } from '../../domain/networks.ts';
import { Transaction } from '@scure/btc-signer';
import { formatDecimal } from '../../domain/money.ts';
import { sentence, type Sentence } from '../../domain/sentence.ts';
import { fundingOf } from './coin-selection.ts';
import { scriptOfAddress, type OutputKey, type WalletOutput } from './output.ts';
import type { UtxoParams } from './params.ts';
import { dustUnits } from './transaction-size.ts';

/** An unspent output of the merchant's wallet. */
export interface RefundInput {
  /** The id as nodes write it. */
  readonly txid: string;
  readonly vout: number;
  readonly amountUnits: bigint;
  readonly output: WalletOutput;
  /**
   * The whole transaction `txid` in hex. P2PKH cannot be signed without it, because its signature does not commit to
   * the amount; hardware wallets also want it for SegWit (not for Taproot). Null: left out.
   */
  readonly rawTransaction: string | null;
}

/** An output for a customer, in the smallest units. */
export interface PayTo {
  readonly address: string;
  readonly units: bigint;
}

export interface RefundPsbtRequest {
  readonly params: UtxoParams;
  /** The inputs, all of which are spent. */
  readonly inputs: readonly RefundInput[];
  /** One output each, in this order; at least one. */
  readonly payTo: readonly PayTo[];
  /** The change output. */
  readonly change: WalletOutput;
  /** Fee in satoshi or litoshi per 1,000 virtual bytes, as nodes state rates. */
  readonly feeUnitsPerKvb: bigint;
}

export type RefundPsbt =
  | {
      readonly kind: 'ok';
      /** BIP 174, in base64. */
      readonly psbt: string;
      /** The sum of the inputs minus the sum of the outputs. */
      readonly feeUnits: bigint;
      /** 0: the change would have been dust and is part of the fee. */
      readonly changeUnits: bigint;
    }
  /** The inputs are not enough for the payout and the fee. */
  | { readonly kind: 'short'; readonly missingUnits: bigint; readonly message: Sentence }
  | DustPayout;

/** A payout so small that nodes do not relay it. */
export interface DustPayout {
  readonly kind: 'dust';
  readonly dustUnits: bigint;
  readonly message: Sentence;
}

/** Not the final sequence, so that the merchant can raise the fee later (BIP 125). */
const REPLACEABLE_SEQUENCE = 0xfffffffd;
/** The decimals of both Bitcoin and Litecoin. */
const DECIMALS = 8;

/**
 * A transaction for the merchant's own wallet to sign: it pays each of `payTo` exactly, and its fee comes from the rest
 * of the inputs. The fee is never below the given rate. Change that would be dust is added to the fee.
 *
 * Throws for an address of another network, for an input given twice, for a P2PKH input without its transaction, and
 * for a transaction that is not the one its input names.
 */
export function buildRefundPsbt(request: RefundPsbtRequest): RefundPsbt {
  const { params, inputs, payTo } = request;
  if (payTo.length === 0 || payTo.some(({ units }) => units <= 0n)) {
    throw new RangeError('a refund pays a positive amount');
  }
  const outpoints = new Set(inputs.map(({ txid, vout }) => `${txid}:${vout}`));
  if (outpoints.size !== inputs.length) throw new Error('an output can be spent once');
  for (const one of payTo) {
    const dust = dustPayout(params, one);
    if (dust !== null) return dust;
  }
  const payout = { ...request, network: params.network, ...paidBy(params, payTo) };
  const funding = fundingOf(payout, inputs);
  if (funding.kind === 'short') return { ...funding, message: shortMessage(params.network, funding.missingUnits) };
  const transaction = assemble(request, funding.changeUnits);
  return { ...funding, psbt: Buffer.from(transaction.toPSBT()).toString('base64') };
}

/** The scripts to pay, and the sum. Throws for an address of another network. */
export function paidBy(
  params: UtxoParams,
  payTo: readonly PayTo[],
): { readonly payUnits: bigint; readonly payScripts: readonly Uint8Array[] } {
  return {
    payUnits: payTo.reduce((sum, { units }) => sum + units, 0n),
    payScripts: payTo.map(({ address }) => scriptOfAddress(params, address)),
  };
}

/**
 * The smallest payout that nodes relay to this address; null if they relay this one. Throws for an address of another
 * network.
 */
export function dustPayout(params: UtxoParams, { address, units }: PayTo): DustPayout | null {
  const dust = dustUnits(params.network, scriptOfAddress(params, address));
  return units < dust ? tooSmall(params, dust) : null;
}

function assemble({ params, inputs, change, payTo }: RefundPsbtRequest, changeUnits: bigint): Transaction {
  const transaction = new Transaction();
  for (const input of inputs) transaction.addInput(psbtInput(input));
  for (const { address, units } of payTo) {
    transaction.addOutput({ script: scriptOfAddress(params, address), amount: units });
  }
  if (changeUnits > 0n) {
    transaction.addOutput({ script: change.script, amount: changeUnits, ...spendingFields(change) });
  }
  return transaction;
}

type PsbtInput = Parameters<Transaction['addInput']>[0];

function psbtInput(input: RefundInput): PsbtInput {
  const { txid, vout, amountUnits, output } = input;
  const { scriptType, script } = output;
  const fields: PsbtInput = { txid, index: vout, sequence: REPLACEABLE_SEQUENCE, ...spendingFields(output) };
  const witnessUtxo = { script, amount: amountUnits };
  if (scriptType === 'p2tr') return { ...fields, witnessUtxo };
  const nonWitnessUtxo = wholeTransaction(input);
  if (scriptType !== 'p2pkh') return { ...fields, witnessUtxo, ...(nonWitnessUtxo ? { nonWitnessUtxo } : {}) };
  if (nonWitnessUtxo) return { ...fields, nonWitnessUtxo };
  throw new Error(`the P2PKH output ${txid}:${vout} can only be spent with the transaction that it comes from`);
}

interface SpendingFields {
  redeemScript?: Uint8Array;
  witnessScript?: Uint8Array;
  bip32Derivation?: [Uint8Array, { fingerprint: number; path: number[] }][];
  tapInternalKey?: Uint8Array;
  tapBip32Derivation?: [Uint8Array, { hashes: Uint8Array[]; der: { fingerprint: number; path: number[] } }][];
}

/**
 * The fields by which a wallet recognises an output as its own and knows how to spend it. Named the same for inputs and
 * outputs of a PSBT.
 */
export function spendingFields({ scriptType, redeemScript, witnessScript, keys }: WalletOutput): SpendingFields {
  const derivation = ({ fingerprint, path }: OutputKey) => ({ fingerprint, path: [...path] });
  const [key] = keys;
  if (scriptType === 'p2tr' && key) {
    const internalKey = key.publicKey.slice(1);
    return {
      tapInternalKey: internalKey,
      tapBip32Derivation: [[internalKey, { hashes: [], der: derivation(key) }]],
    };
  }
  return {
    ...(redeemScript ? { redeemScript } : {}),
    ...(witnessScript ? { witnessScript } : {}),
    bip32Derivation: keys.map((key) => [key.publicKey, derivation(key)]),
  };
}

/**
 * The transaction in a form that PSBT readers understand; null if it was not given, or has a form that they do not
 * understand. Throws if it is not the one that the input names, because a wrong amount would become a fee.
 */
function wholeTransaction({ txid, vout, amountUnits, output, rawTransaction }: RefundInput): Uint8Array | null {
  if (rawTransaction === null) return null;
  const bytes = withoutMweb(Buffer.from(rawTransaction, 'hex'));
  const transaction = readTransaction(bytes);
  if (transaction === null) return null;
  const found = vout < transaction.outputsLength ? transaction.getOutput(vout) : null;
  const same =
    transaction.id === txid &&
    found?.amount === amountUnits &&
    found.script !== undefined &&
    Buffer.compare(found.script, output.script) === 0;
  if (!same) throw new Error(`the raw transaction given for ${txid}:${vout} has no such output`);
  return bytes;
}

function readTransaction(bytes: Uint8Array): Transaction | null {
  try {
    return Transaction.fromRaw(bytes, {
      allowUnknownOutputs: true,
      allowUnknownInputs: true,
      allowUnknownVersion: true,
      disableScriptCheck: true,
    });
  } catch {
    return null;
  }
}

/**
 * The transaction without the flag and data of MWEB: they are not part of its id, and PSBT readers do not understand
 * them.
 */
function withoutMweb(bytes: Uint8Array): Uint8Array {
  return isHogEx(bytes) ? Buffer.concat([bytes.subarray(0, 4), bytes.subarray(6, -5), bytes.subarray(-4)]) : bytes;
}

/**
 * Whether a transaction is Litecoin's integrating transaction of a block (HogEx), which pays out of MWEB: marked by
 * flag 8 and a zero byte before its lock time.
 */
export function isHogEx(bytes: Uint8Array): boolean {
  return bytes[4] === 0 && bytes[5] === 8 && bytes.at(-5) === 0;
}

/** The message for a refund whose wallet has too little to spend. */
export function shortMessage(network: UtxoParams['network'], missingUnits: bigint): Sentence {
  return sentence('outputs_short', amountOf(network, missingUnits));
}

function tooSmall({ network }: UtxoParams, dust: bigint): DustPayout {
  return {
    kind: 'dust',
    dustUnits: dust,
    message: sentence('payout_dust', amountOf(network, dust)),
  };
}

function amountOf(network: UtxoParams['network'], units: bigint): { readonly units: string; readonly asset: string } {
  return { units: formatDecimal(units, DECIMALS), asset: NETWORK_FACTS[network].coin.asset };
}
