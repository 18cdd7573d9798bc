import { evmTransfer, paymentUri, type EvmTransfer } from '../domain/payment-uri.ts';
import type { Refund } from '../domain/refund.ts';
import { findRefund, payoutOf } from '../store/refunds.ts';
import type { App } from './context.ts';
import type { Rejected } from './projects.ts';
import { checkRefundAddress } from './refund-address.ts';
import { paidBy, refundPsbt, type PsbtAdvice, type UtxoAccess } from './refund-psbt.ts';

/** Exactly what the merchant signs, in every form that his wallet may take. */
export interface RefundInstructions {
  readonly kind: 'done';
  readonly refund: Refund;
  /** For wallets that read links or QR codes. This and what follows is null while there is nothing to sign. */
  readonly paymentUri: string | null;
  readonly call: EvmTransfer | null;
  readonly psbt: PsbtAdvice | null;
  /** Why a refund that is pending still must not be paid now; null: it may be. */
  readonly problem: string | null;
}

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
    return nothingToSign(refund, null);
  }
  // Who is shown a payment that needs nothing but confirmations pays it twice.
  const payout = await payoutOf(app.db, id);
  if (payout !== null) return nothingToSign(refund, paidBy(payout));
  // What was taken before an address of the kind was refused, or before it was issued.
  const checked = await checkRefundAddress(app, app.db, refund, address);
  if (checked.kind === 'bad') {
    return nothingToSign(refund, `${address}: ${checked.message} Cancel this refund and create it anew.`);
  }
  const request = { asset, network, decimals, units, address, evm: rail.evmChain({ network, asset }) };
  const chain = utxo(network);
  const isUtxo = network === 'bitcoin' || network === 'litecoin';
  const psbt = chain === null ? (isUtxo ? NO_NODE : null) : await refundPsbt(app, refund, address, chain);
  if (psbt?.kind === 'paid') return nothingToSign(refund, psbt.message);
  return { kind: 'done', refund, paymentUri: paymentUri(request), call: evmTransfer(request), psbt, problem: null };
}

function nothingToSign(refund: Refund, problem: string | null): RefundInstructions {
  return { kind: 'done', refund, paymentUri: null, call: null, psbt: null, problem };
}

const NO_NODE: PsbtAdvice = {
  kind: 'none',
  message: 'A PSBT needs a node of the network that knows which outputs are unspent. Pay by the payment URI instead.',
};
