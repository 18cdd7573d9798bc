import { evmTransfer, paymentUri, type EvmTransfer } from '../domain/payment-uri.ts';
import type { Refund } from '../domain/refund.ts';
import type { UtxoCaller } from '../rails/utxo/caller.ts';
import type { UtxoParams } from '../rails/utxo/params.ts';
import { buildRefundPsbt, type RefundInput } from '../rails/utxo/psbt.ts';
import { parseUtxoWallet, type UtxoDeriver } from '../rails/utxo/wallet.ts';
import { findRefund } from '../store/refunds.ts';
import { receivedOutputs, type ReceivedOutput } from '../store/wallets.ts';
import type { App } from './context.ts';
import type { Rejected } from './projects.ts';

/** Exactly what the merchant signs, in every form that his wallet may take. */
export interface RefundInstructions {
  readonly kind: 'done';
  readonly refund: Refund;
  /** For wallets that read links or QR codes. This and what follows is null while there is nothing to sign. */
  readonly paymentUri: string | null;
  readonly call: EvmTransfer | null;
  readonly psbt: PsbtAdvice | null;
}

export type PsbtAdvice =
  | { readonly kind: 'ok'; readonly psbt: string; readonly feeUnits: bigint; readonly changeUnits: bigint }
  /** Why there is none, and what to do instead. */
  | { readonly kind: 'none'; readonly message: string };

/** A node of Bitcoin's family that knows which outputs are unspent. */
export interface UtxoAccess {
  readonly params: UtxoParams;
  readonly caller: UtxoCaller;
}

/** Outputs that are looked at for a refund: its payment's own and the newest ones. */
const MOST_INPUTS = 40;

/**
 * What pays a refund: a payment URI, and call data or a PSBT. Without `utxo` there is no PSBT. Throws
 * `ChainUnavailableError` when the node does not answer.
 */
export async function refundInstructions(
  app: App,
  id: string,
  utxo: (network: Refund['network']) => UtxoAccess | null,
): Promise<RefundInstructions | Rejected> {
  const refund = await findRefund(app.db, id);
  if (refund === null)
    return {
      kind: 'rejected',
      message: 'There is no such refund. Its id begins with re_; list them with: GET /v1/refunds',
    };
  const { address, network, asset, decimals, units } = refund;
  const rail = app.railFor(refund.mode);
  // Who signs what a finished refund shows pays it twice; one that is only simulated is paid by nobody.
  if (address === null || refund.status !== 'pending' || rail.simulate !== null) {
    return { kind: 'done', refund, paymentUri: null, call: null, psbt: null };
  }
  const request = { asset, network, decimals, units, address, evm: rail.evmChain({ network, asset }) };
  const chain = utxo(network);
  const isUtxo = network === 'bitcoin' || network === 'litecoin';
  return {
    kind: 'done',
    refund,
    paymentUri: paymentUri(request),
    call: evmTransfer(request),
    psbt: chain === null ? (isUtxo ? NO_NODE : null) : await psbtOf(app, refund, address, chain),
  };
}

const NO_NODE: PsbtAdvice = {
  kind: 'none',
  message: 'A PSBT needs a node of the network that knows which outputs are unspent. Pay by the payment URI instead.',
};

async function psbtOf(app: App, refund: Refund, address: string, { params, caller }: UtxoAccess): Promise<PsbtAdvice> {
  const received = await receivedOutputs(app.db, refund.paymentId, refund.network, MOST_INPUTS);
  const [own] = received;
  const wallet = own === undefined ? null : openWallet(params, own);
  if (own === undefined || wallet === null) {
    return {
      kind: 'none',
      message: 'The wallet that the payment went to is not known. Pay by the payment URI instead.',
    };
  }
  const change = wallet.changeAt(own.index);
  if (change === null) {
    const message = `Where its change goes is not known: the wallet was not given with its change chain, as in "/<0;1>/*".`;
    return { kind: 'none', message: `${message} Pay by the payment URI instead.` };
  }
  const unspent = await caller.unspent(
    received.map(({ transactionHash, outputIndex }) => ({ txid: transactionHash, vout: outputIndex })),
  );
  const inputs = await Promise.all(
    received.filter((_, at) => unspent[at]).map((output) => inputOf(wallet, output, caller)),
  );
  const built = buildRefundPsbt({
    params,
    inputs,
    payTo: { address, units: refund.units },
    change,
    feeUnitsPerKvb: await caller.feeUnitsPerKvb(),
  });
  return built.kind === 'ok' ? built : { kind: 'none', message: `${built.message} Pay by the payment URI instead.` };
}

function openWallet(params: UtxoParams, { kind, source }: ReceivedOutput): UtxoDeriver | null {
  if (kind === 'treasury') return null;
  const parsed = parseUtxoWallet(params, { kind, text: source });
  return parsed.kind === 'ok' ? parsed.deriver : null;
}

async function inputOf(wallet: UtxoDeriver, output: ReceivedOutput, caller: UtxoCaller): Promise<RefundInput> {
  const { transactionHash: txid, outputIndex: vout, amountUnits, blockHash } = output;
  const rawTransaction = await caller.rawTransaction(txid, blockHash);
  return { txid, vout, amountUnits, output: wallet.outputAt(output.index), rawTransaction };
}
