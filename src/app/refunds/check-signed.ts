import { encodeId } from '../../domain/id.ts';
import { divCeil, formatDecimal } from '../../domain/money.ts';
import { NETWORK_FACTS } from '../../domain/networks.ts';
import type { Refund } from '../../domain/refund.ts';
import { sentence, type Sentence } from '../../domain/sentence.ts';
import { ChainUnavailableError } from '../../rails/chain.ts';
import type { Outpoint, UtxoCaller } from '../../rails/utxo/caller.ts';
import { addressOfScript, scriptOfAddress, type WalletOutput } from '../../rails/utxo/output.ts';
import type { UtxoParams } from '../../rails/utxo/params.ts';
import type { SignedOutput, SignedTransaction } from '../../rails/utxo/signed.ts';
import { dustUnits, transactionVsize } from '../../rails/utxo/transaction-size.ts';
import type { WalletCoin } from '../../store/refunds/refund-coins.ts';
import { isOutput } from './refund-held.ts';

/** The transaction that was shown for signing, against which the signed one is checked. */
export interface ShownTransaction {
  readonly params: UtxoParams;
  readonly refunds: readonly (Refund & { readonly address: string })[];
  /** The inputs that were shown with each refund. */
  readonly inputs: ReadonlyMap<string, readonly Outpoint[]>;
  /** The inputs among them that the wallet has. */
  readonly coins: readonly (WalletCoin & { readonly output: WalletOutput })[];
  /** The change outputs that the refunds were shown with. */
  readonly change: readonly WalletOutput[];
  /** The index of a script on the wallet's change chain; null if the script is not a watched one. */
  readonly changeIndex: (script: Uint8Array) => number | null;
  /** The highest fee rate, in the smallest units per virtual byte. */
  readonly maxFeeRate: number;
}

/**
 * The differences between a signed transaction and the one shown; empty if there are none. It must pay each refund
 * exactly, and nobody else but the shown change address; spend only inputs reserved for the refunds; and pay no more
 * fee than MAX_FEE_RATE allows. Inputs and outputs are counted from 1, as wallets show them.
 */
export function differencesOf(shown: ShownTransaction, signed: SignedTransaction): readonly Sentence[] {
  return [...inputFaults(shown, signed), ...outputFaults(shown, signed.outputs), ...feeFaults(shown, signed)];
}

function inputFaults({ refunds, inputs, coins }: ShownTransaction, signed: SignedTransaction): readonly Sentence[] {
  const reserved = [...inputs.values()].flat();
  const named = new Set(signed.inputs.map(({ txid, vout }) => `${txid}:${vout}`));
  return [
    ...(named.size < signed.inputs.length ? [sentence('spends_twice')] : []),
    ...signed.inputs.flatMap((input, place) => {
      const spends = { place: place + 1, output: `${input.txid}:${input.vout}` };
      if (!reserved.some((one) => isOutput(one, input))) return [sentence('input_not_shown', spends)];
      return coins.some((coin) => isOutput(coin, input)) ? [] : [sentence('input_reorged', spends)];
    }),
    // Otherwise a transaction signed before could be mined beside this one, and pay the customer a second time.
    ...refunds
      .filter(({ id }) => !(inputs.get(id) ?? []).some((one) => named.has(`${one.txid}:${one.vout}`)))
      .map(({ id }) => sentence('spends_none_shown', { refund: encodeId('refund', id) })),
  ];
}

function outputFaults(shown: ShownTransaction, outputs: readonly SignedOutput[]): readonly Sentence[] {
  const { params, refunds, change } = shown;
  const paying = payingOutputs(shown, outputs);
  const left = outputs.map((output, place) => ({ ...output, place })).filter(({ place }) => !paying.has(place));
  const take = (script: Uint8Array): (typeof left)[number] | null => {
    const at = left.findIndex((output) => isScript(output.script, script));
    return at < 0 ? null : (left.splice(at, 1)[0] ?? null);
  };
  const paid = new Set(paying.values());
  const wrong = refunds
    .filter(({ id }) => !paid.has(id))
    .map(({ id, address, units }) => {
      const other = take(scriptOfAddress(params, address));
      const wanted = { units: amount(units), asset: assetOf(params), address, refund: encodeId('refund', id) };
      if (other === null) return sentence('no_output_pays', wanted);
      const paid = { ...wanted, place: other.place + 1, paid: amount(other.units) };
      return other.units > units
        ? sentence('output_pays_more', { ...paid, by: amount(other.units - units) })
        : sentence('output_pays_less', { ...paid, by: amount(units - other.units) });
    });
  const at = left.findIndex(({ script }) => change.some((one) => isScript(one.script, script)));
  const others = left.filter((_, place) => place !== at);
  return [...wrong, ...others.map((output) => foreign(shown, output))];
}

/** The id of the refund that each output pays exactly, by the output's position. */
export function payingOutputs(
  { params, refunds }: Pick<ShownTransaction, 'params' | 'refunds'>,
  outputs: readonly SignedOutput[],
): ReadonlyMap<number, string> {
  const paying = new Map<number, string>();
  for (const { id, address, units } of refunds) {
    const wanted = scriptOfAddress(params, address);
    const place = outputs.findIndex(
      (output, at) => !paying.has(at) && output.units === units && isScript(output.script, wanted),
    );
    if (place >= 0) paying.set(place, id);
  }
  return paying;
}

function foreign(
  { params, change, changeIndex }: ShownTransaction,
  { script, units, place }: SignedOutput & { readonly place: number },
): Sentence {
  const pays = { place: place + 1, units: amount(units), asset: assetOf(params), address: addressOf(params, script) };
  const index = changeIndex(script);
  if (change.some((one) => isScript(one.script, script))) return sentence('output_change_twice', pays);
  if (index === null) return sentence('output_foreign', pays);
  const [first = '', ...others] = change.map(({ address }) => address);
  const either = others.reduce<string | Sentence>((one, other) => sentence('either', { one, other }), first);
  return sentence('output_other_change', { ...pays, index, change: either });
}

function feeFaults(shown: ShownTransaction, signed: SignedTransaction): readonly Sentence[] {
  const { params, maxFeeRate } = shown;
  const paid = feeOf(shown, signed);
  // The amount of an input is unknown; the transaction is refused anyway.
  if (paid === null) return [];
  const { fee, vsize, dust } = paid;
  const asset = assetOf(params);
  if (fee < 0n) return [sentence('outputs_exceed_inputs', { units: amount(-fee), asset })];
  const most = vsize * BigInt(maxFeeRate) + dust;
  if (fee <= most) return [];
  const unit = NETWORK_FACTS[params.network].smallestUnit;
  return [sentence('fee_high', { fee: amount(fee), most: amount(most), asset, max: maxFeeRate, unit })];
}

/** A transaction without change may pay this many times the fee that the node asks for. */
const MAX_TIMES_FEE = 10n;

/**
 * Whether the whole change went to the miners, compared with the node's present fee. No fault if no node answers,
 * because the transaction is kept then.
 */
export async function changeFaults(
  shown: ShownTransaction,
  signed: SignedTransaction,
  caller: Pick<UtxoCaller, 'feeUnitsPerKvb'>,
): Promise<readonly Sentence[]> {
  const { params, change } = shown;
  const paid = feeOf(shown, signed);
  if (paid === null || signed.outputs.some((output) => change.some((one) => isScript(one.script, output.script))))
    return [];
  const feeUnitsPerKvb = await caller.feeUnitsPerKvb().catch((error: unknown) => {
    if (error instanceof ChainUnavailableError) return null;
    throw error;
  });
  if (feeUnitsPerKvb === null) return [];
  const asked = divCeil(paid.vsize * feeUnitsPerKvb, 1_000n);
  if (paid.fee <= MAX_TIMES_FEE * asked + paid.dust) return [];
  return [sentence('change_to_miners', { fee: amount(paid.fee), asked: amount(asked), asset: assetOf(params) })];
}

/** A transaction's fee, its size with change, and the largest change that may be part of the fee; null if unknown. */
function feeOf(
  { params, coins, change }: ShownTransaction,
  signed: SignedTransaction,
): { readonly fee: bigint; readonly vsize: bigint; readonly dust: bigint } | null {
  const spent = signed.inputs.flatMap((input) => coins.filter((coin) => isOutput(coin, input)));
  if (spent.length < signed.inputs.length) return null;
  const sum = (units: readonly bigint[]): bigint => units.reduce((total, one) => total + one, 0n);
  const fee = sum(spent.map(({ amountUnits }) => amountUnits)) - sum(signed.outputs.map(({ units }) => units));
  const scripts = [...signed.outputs, ...change.slice(0, 1)].map(({ script }) => script);
  const inputs = spent.map(({ output }) => output);
  const dust = change.map(({ script }) => dustUnits(params.network, script)).reduce((a, b) => (a > b ? a : b), 0n);
  return { fee, vsize: BigInt(transactionVsize(inputs, scripts)), dust };
}

function isScript(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

function addressOf(params: UtxoParams, script: Uint8Array): string | Sentence {
  try {
    return addressOfScript(params, script);
  } catch {
    return sentence('script_without_address', { hex: Buffer.from(script).toString('hex').slice(0, 80) });
  }
}

function amount(units: bigint): string {
  return formatDecimal(units, 8);
}

function assetOf({ network }: UtxoParams): string {
  return NETWORK_FACTS[network].coin.asset;
}
