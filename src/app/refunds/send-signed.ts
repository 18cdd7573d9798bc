import { encodeId } from '../../domain/id.ts';
import type { Network } from '../../domain/networks.ts';
import type { KnownPayout } from '../../domain/refund-payout.ts';
import type { Refund } from '../../domain/refund.ts';
import { sentence, type Sentence } from '../../domain/sentence.ts';
import { ChainUnavailableError } from '../../rails/chain.ts';
import type { Outpoint } from '../../rails/utxo/caller.ts';
import { addressOfScript, scriptOfAddress } from '../../rails/utxo/output.ts';
import {
  readSigned,
  type CompleteTransaction,
  type OpenInput,
  type SignedTransaction,
  type SpentOutput,
  type UnsignedInputs,
} from '../../rails/utxo/signed.ts';
import { readCursor, findRawTransactions } from '../../store/chains/chain.ts';
import { findChange, refundChanges } from '../../store/refunds/change.ts';
import { refundInputs, walletCoins } from '../../store/refunds/refund-coins.ts';
import { knownPayouts } from '../../store/refunds/refund-payouts.ts';
import type { App } from '../context.ts';
import { changeFaults, differencesOf, type ShownTransaction } from './check-signed.ts';
import { keepSent, payoutsBy, takeBackSent } from './keep-sent.ts';
import { nodeRefusal } from './node-refusal.ts';
import { isOutput, type PaidTogether } from './refund-held.ts';
import { examine } from './refund-instructions.ts';
import { coinQuery, payingWallet, type UtxoAccess } from './refund-psbt.ts';

export type SentOutcome =
  | { readonly kind: 'sent'; readonly transactionHash: string }
  /** No node answered. The transaction is kept, and sent once one does. */
  | { readonly kind: 'kept'; readonly transactionHash: string; readonly message: Sentence }
  /** Nothing was sent. `differences` list the deviations from the shown transaction. */
  | { readonly kind: 'refused'; readonly message: Sentence; readonly differences: readonly Sentence[] };

type Refused = Extract<SentOutcome, { readonly kind: 'refused' }>;
type Addressed = Refund & { readonly address: string };

/**
 * Checks a signed transaction against the transaction that was shown for its refunds, and hands it to the network. It
 * is kept before it is sent, and pays its refunds from then on: they can neither be cancelled nor shown for signing.
 * The same transaction is sent once, however often it is given. Signatures that do not commit to every input and output
 * are refused, because others could change the checked transaction. Throws `ChainUnavailableError` if no node answers
 * the check's questions.
 */
export async function sendSigned(
  app: App,
  refunds: PaidTogether,
  text: string,
  utxo: (network: Refund['network']) => UtxoAccess | null,
): Promise<SentOutcome> {
  const reading = readSigned(text);
  if (reading.kind === 'invalid') return refused(reading.fault);
  const access = utxo(refunds[0].network);
  if (access === null) return refused(sentence('no_node_to_send'));
  const { signed } = reading;
  const shown = await shownTransaction(app, refunds, signed, access);
  if ('message' in shown) return refused(shown.message);
  const spent = await spentOutputs(app, shown, signed);
  // Completing the transaction removes fields that final inputs do not need.
  const open = signed.openInputs(spent);
  const complete = signed.complete(spent);
  if (complete.kind === 'complete') {
    const before = await keptBefore(app, refunds, complete.txid);
    if (before.length > 0) return again(before, complete, access.caller);
  }
  const unpayable = await unpayableNow(app, refunds);
  if (unpayable !== null) return refused(unpayable);
  const differences = [
    ...differencesOf(shown, signed),
    ...(await changeFaults(shown, signed, access.caller)),
    ...(await besideOlder(app, refunds, signed, access.caller)),
  ];
  if (differences.length > 0) return { kind: 'refused', message: sentence('not_shown_transaction'), differences };
  if (open.length > 0) return notForAll(open, signed);
  if (complete.kind === 'invalid') {
    return refused(sentence('transaction_invalid', { reason: complete.reason.slice(0, 200) }));
  }
  if (complete.kind === 'unsigned') return notSigned(complete, signed);
  return send(app, shown, signed, complete, access);
}

function refused(message: Sentence): Refused {
  return { kind: 'refused', message, differences: [] };
}

async function shownTransaction(
  app: App,
  refunds: PaidTogether,
  signed: SignedTransaction,
  { params, maxFeeRate }: UtxoAccess,
): Promise<ShownTransaction | { readonly message: Sentence }> {
  const opened = await payingWallet(app, refunds, params);
  if (opened.kind === 'none') return opened;
  const { wallet, change, changeAt } = opened;
  const [{ network }] = refunds;
  const refundIds = refunds.map(({ id }) => id);
  const inputs = await refundInputs(app.db, refundIds);
  const reserved = [...inputs.values()].flat();
  const query = coinQuery(refunds, opened, app.clock());
  // The wallet lists reserved outputs first.
  const coins = (await walletCoins(app.db, query, reserved.length)).filter(({ isHeld }) => isHeld);
  const shownChange = await refundChanges(app.db, network, change.address, refundIds);
  const addresses = signed.outputs.flatMap(({ script }) => {
    try {
      return [addressOfScript(params, script)];
    } catch {
      return [];
    }
  });
  const ours = await findChange(app.db, network, addresses);
  return {
    params,
    refunds: refunds.filter((refund): refund is Addressed => refund.address !== null),
    inputs,
    coins: coins.map((coin) => ({
      ...coin,
      output: coin.isChange ? changeAt(coin.index) : wallet.outputAt(coin.index),
    })),
    change: shownChange.map(changeAt),
    changeIndex: (script) =>
      ours.find(
        ({ address, firstChangeAddress }) =>
          firstChangeAddress === change.address && Buffer.compare(scriptOfAddress(params, address), script) === 0,
      )?.index ?? null,
    maxFeeRate,
  };
}

/** The outputs that the transaction spends, by its inputs; null for those that were not shown. */
async function spentOutputs(
  app: App,
  { params, coins }: ShownTransaction,
  signed: SignedTransaction,
): Promise<readonly (SpentOutput | null)[]> {
  const raws = await findRawTransactions(
    app.db,
    params.network,
    coins.map(({ txid }) => txid),
  );
  return signed.inputs.map((input) => {
    const coin = coins.find((one) => isOutput(one, input));
    return coin === undefined ? null : { ...coin, rawTransaction: raws.get(coin.txid) ?? null };
  });
}

/** This transaction's payouts of these refunds if it pays all of them already; otherwise none. */
async function keptBefore(app: App, refunds: PaidTogether, txid: string): Promise<readonly KnownPayout[]> {
  const ids = refunds.map(({ id }) => id);
  return payoutsBy(await knownPayouts(app.db, ids), ids, txid);
}

/** Asks whether a node has a kept transaction by now, and sends the transaction if none does. */
async function again(
  payouts: readonly KnownPayout[],
  { txid, hex }: CompleteTransaction,
  caller: UtxoAccess['caller'],
): Promise<SentOutcome> {
  if (payouts.some(({ state }) => state === 'block')) return { kind: 'sent', transactionHash: txid };
  try {
    const outputs = await caller.unspent(payouts.map(({ index }) => ({ txid, vout: index })));
    if (outputs.some((output) => output !== null)) return { kind: 'sent', transactionHash: txid };
    const outcome = await caller.send(hex);
    if (outcome.kind === 'sent') return { kind: 'sent', transactionHash: txid };
    // The chain's follower sends it again, and takes it back if it cannot be mined.
    const message = sentence('kept_not_accepted', { reason: outcome.reason });
    return { kind: 'kept', transactionHash: txid, message };
  } catch (error) {
    return unsent(txid, error);
  }
}

/** @throws the error, unless it says that no node answered */
function unsent(txid: string, error: unknown): SentOutcome {
  if (!(error instanceof ChainUnavailableError)) throw error;
  const message = sentence('kept_until_node', { reason: error.message });
  return { kind: 'kept', transactionHash: txid, message };
}

/** Why one of these refunds must not be paid now; null if all may. */
async function unpayableNow(app: App, refunds: PaidTogether): Promise<Sentence | null> {
  for (const refund of refunds) {
    const examined = await examine(app, refund, []);
    if (examined.kind === 'payable') continue;
    return sentence('not_payable_now', {
      refund: encodeId('refund', refund.id),
      why: examined.problem ?? sentence(endOf(refund)),
    });
  }
  return null;
}

function endOf({ status, failureReason, address }: Refund) {
  if (status === 'completed') return 'end_completed';
  if (status === 'pending') return address === null ? 'end_no_address' : 'end_test';
  return failureReason === 'cancelled' ? 'end_cancelled' : 'end_expired';
}

/** Refuses a transaction beside which an older payout of a refund, in no block now, could still be mined. */
async function besideOlder(
  app: App,
  refunds: PaidTogether,
  signed: SignedTransaction,
  caller: UtxoAccess['caller'],
): Promise<readonly Sentence[]> {
  const spends = new Set(signed.inputs.map(nameOf));
  const known = await knownPayouts(
    app.db,
    refunds.map(({ id }) => id),
  );
  const apart = known.filter((one) => one.spends.length > 0 && !one.spends.some((spent) => spends.has(spent)));
  const gone = await spentInBlocks(app, refunds[0].network, caller, [...new Set(apart.flatMap((one) => one.spends))]);
  return apart
    .filter((one) => !one.spends.some((spent) => gone.has(spent)))
    .map(({ refundId, transactionHash: hash }) =>
      sentence('both_minable', { hash, refund: encodeId('refund', refundId) }),
    );
}

/**
 * The outputs among these, as `txid:vout`, that blocks have spent: no other transaction that spends them can be mined.
 * Empty until the newest blocks were read, because only they tell the spending transaction.
 */
async function spentInBlocks(
  app: App,
  network: Network,
  caller: UtxoAccess['caller'],
  outputs: readonly string[],
): Promise<ReadonlySet<string>> {
  const states = await caller.unspent(outputs.map(outpointOf), { inBlocks: true });
  const gone = outputs.filter((_, place) => (states[place] ?? null) === null);
  if (gone.length === 0) return new Set();
  const height = await caller.height();
  const cursor = await readCursor(app.db, network);
  return new Set(cursor !== null && cursor.height >= height ? gone : []);
}

function nameOf({ txid, vout }: Outpoint): string {
  return `${txid}:${vout}`;
}

function outpointOf(name: string): Outpoint {
  const [txid = '', vout = ''] = name.split(':');
  return { txid, vout: Number(vout) };
}

function notForAll(open: readonly OpenInput[], signed: SignedTransaction): Refused {
  const differences = open.map(({ place, fault }) => sentence('input_open', { ...inputName(signed, place), fault }));
  return { kind: 'refused', message: sentence('sighash_open'), differences };
}

function inputName({ inputs }: SignedTransaction, place: number) {
  const input = inputs[place];
  return { place: place + 1, output: `${input?.txid}:${input?.vout}` };
}

function notSigned({ inputs }: UnsignedInputs, signed: SignedTransaction): Refused {
  const lacking = inputs.map(({ place, has, needs }) => {
    const input = inputName(signed, place);
    return needs > 1 ? sentence('input_partly_signed', { ...input, has, needs }) : sentence('input_unsigned', input);
  });
  return { kind: 'refused', message: sentence('not_fully_signed'), differences: lacking };
}

async function send(
  app: App,
  shown: ShownTransaction,
  signed: SignedTransaction,
  complete: CompleteTransaction,
  { caller }: UtxoAccess,
): Promise<SentOutcome> {
  const { txid, hex } = complete;
  const { network } = shown.params;
  const kept = await keepSent(app, shown, signed, { network, hash: txid, bytes: Buffer.from(hex, 'hex') });
  if (kept.kind === 'refused') return refused(kept.message);
  if (kept.kind === 'known') return again(kept.payouts, complete, caller);
  try {
    const outcome = await caller.send(hex);
    if (outcome.kind === 'sent') return { kind: 'sent', transactionHash: txid };
    await takeBackSent(app, network, txid, outcome.reason);
    return refused(nodeRefusal(outcome.reason));
  } catch (error) {
    return unsent(txid, error);
  }
}
