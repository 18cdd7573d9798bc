import { Transaction } from '@scure/btc-signer';
import { divCeil, formatDecimal } from '../../domain/money.ts';
import { scriptOfAddress, type OutputKey, type WalletOutput } from './output.ts';
import type { UtxoParams } from './params.ts';
import { dustUnits, transactionVsize } from './transaction-size.ts';

/** An unspent output of the merchant's wallet. */
export interface RefundInput {
  /** As nodes write it. */
  readonly txid: string;
  readonly vout: number;
  readonly amountUnits: bigint;
  readonly output: WalletOutput;
  /**
   * The transaction `txid`, whole and in hex. P2PKH cannot be signed without it, because such a signature does not commit to
   * the amount; hardware wallets want it for SegWit too (not for Taproot). Null: left out.
   */
  readonly rawTransaction: string | null;
}

export interface RefundPsbtRequest {
  readonly params: UtxoParams;
  /** In the order of preference: as many are spent, from the first on, as the payout and its fee need. */
  readonly inputs: readonly RefundInput[];
  readonly payTo: { readonly address: string; readonly units: bigint };
  /** Where the rest goes back to. */
  readonly change: WalletOutput;
  /** Fee in satoshi or litoshi per 1,000 virtual bytes, as nodes state rates. */
  readonly feeUnitsPerKvb: bigint;
}

export type RefundPsbt =
  | {
      readonly kind: 'ok';
      /** BIP 174, in base64. */
      readonly psbt: string;
      /** What the inputs hold more than the outputs. */
      readonly feeUnits: bigint;
      /** 0: a change would have been dust and is part of the fee. */
      readonly changeUnits: bigint;
      /** How many of the inputs are spent. */
      readonly inputCount: number;
    }
  /** The inputs do not hold the payout and the fee of spending all of them. */
  | { readonly kind: 'short'; readonly missingUnits: bigint; readonly message: string }
  /** So small a payout is not passed on by nodes. */
  | { readonly kind: 'dust'; readonly dustUnits: bigint; readonly message: string };

/** Below the final one, so that the merchant can raise the fee later (BIP 125). */
const REPLACEABLE_SEQUENCE = 0xfffffffd;
/** Bitcoin's and Litecoin's. */
const DECIMALS = 8;

/**
 * A transaction for the merchant's own wallet to sign: it pays `payTo` exactly, and its fee comes from what the inputs hold
 * beyond that. The fee is never below the asked rate. Change that would be dust is added to the fee.
 *
 * Throws for an address of another network, for an input that is given twice, for a P2PKH input without its
 * transaction, and for a transaction that is not the one its input names.
 */
export function buildRefundPsbt(request: RefundPsbtRequest): RefundPsbt {
  const { params, inputs, payTo } = request;
  if (payTo.units <= 0n) throw new RangeError('a refund pays a positive amount');
  const outpoints = new Set(inputs.map(({ txid, vout }) => `${txid}:${vout}`));
  if (outpoints.size !== inputs.length) throw new Error('an output can be spent once');
  const payScript = scriptOfAddress(params, payTo.address);
  const dust = dustUnits(params.network, payScript);
  if (payTo.units < dust) return tooSmall(params, dust);
  const funding = fundFromFirst(request, payScript);
  if (funding.kind === 'short') return tooLittle(params, funding.missingUnits);
  const { inputCount, feeUnits, changeUnits } = funding;
  const transaction = assemble(request, payScript, inputs.slice(0, inputCount), changeUnits);
  return { kind: 'ok', psbt: Buffer.from(transaction.toPSBT()).toString('base64'), feeUnits, changeUnits, inputCount };
}

type Funding =
  | { readonly kind: 'ok'; readonly inputCount: number; readonly feeUnits: bigint; readonly changeUnits: bigint }
  | { readonly kind: 'short'; readonly missingUnits: bigint };

/** Spends as few of the inputs as are enough, from the first on. */
function fundFromFirst(request: RefundPsbtRequest, payScript: Uint8Array): Funding {
  const { inputs } = request;
  for (let count = 1; count < inputs.length; count += 1) {
    const funding = fund(request, payScript, inputs.slice(0, count));
    if (funding.kind === 'ok') return funding;
  }
  return fund(request, payScript, inputs);
}

/** What fee and change are when all of `inputs` are spent. */
function fund(request: RefundPsbtRequest, payScript: Uint8Array, inputs: readonly RefundInput[]): Funding {
  const { params, payTo, change, feeUnitsPerKvb } = request;
  const spent = inputs.map(({ output }) => output);
  const feeOf = (scripts: readonly Uint8Array[]): bigint =>
    divCeil(BigInt(transactionVsize(spent, scripts)) * feeUnitsPerKvb, 1_000n);
  const left = inputs.reduce((sum, { amountUnits }) => sum + amountUnits, 0n) - payTo.units;
  const inputCount = inputs.length;
  const feeWithChange = feeOf([payScript, change.script]);
  if (left - feeWithChange >= dustUnits(params.network, change.script)) {
    return { kind: 'ok', inputCount, feeUnits: feeWithChange, changeUnits: left - feeWithChange };
  }
  const fee = feeOf([payScript]);
  return left >= fee
    ? { kind: 'ok', inputCount, feeUnits: left, changeUnits: 0n }
    : { kind: 'short', missingUnits: fee - left };
}

function assemble(
  { change, payTo }: RefundPsbtRequest,
  payScript: Uint8Array,
  inputs: readonly RefundInput[],
  changeUnits: bigint,
): Transaction {
  const transaction = new Transaction();
  for (const input of inputs) transaction.addInput(psbtInput(input));
  transaction.addOutput({ script: payScript, amount: payTo.units });
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

/** What tells a wallet that an output is its own, and how to spend it. Named alike for inputs and outputs of a PSBT. */
function spendingFields({ scriptType, redeemScript, witnessScript, keys }: WalletOutput): SpendingFields {
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
 * The transaction in a form that PSBT readers know; null when it was not given, or has a form that they do not know. Throws
 * when it is another one than the input names, because a wrong amount would become a fee.
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
 * A block's integrating transaction of Litecoin (HogEx), which pays out of MWEB, is marked by flag 8 and a zero byte before
 * its lock time. Neither counts for its id, and PSBT readers know neither.
 */
function withoutMweb(bytes: Uint8Array): Uint8Array {
  const marked = bytes[4] === 0 && bytes[5] === 8 && bytes.at(-5) === 0;
  return marked ? Buffer.concat([bytes.subarray(0, 4), bytes.subarray(6, -5), bytes.subarray(-4)]) : bytes;
}

function tooLittle({ network }: UtxoParams, missingUnits: bigint): RefundPsbt {
  const missing = amountText(network, missingUnits);
  return {
    kind: 'short',
    missingUnits,
    message: `The outputs that can be spent fall short of the refund and its network fee by ${missing}. Send the refund from another wallet, or refund less.`,
  };
}

function tooSmall({ network }: UtxoParams, dust: bigint): RefundPsbt {
  return {
    kind: 'dust',
    dustUnits: dust,
    message: `Nodes do not pass on payments to this address of less than ${amountText(network, dust)}. Refund at least that, or give the customer's money back in another way.`,
  };
}

function amountText(network: UtxoParams['network'], units: bigint): string {
  return `${formatDecimal(units, DECIMALS)} ${{ bitcoin: 'BTC', litecoin: 'LTC' }[network]}`;
}
