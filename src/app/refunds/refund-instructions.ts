import { familyFacts } from '../../domain/networks.ts';
import { encodeId } from '../../domain/id.ts';
import { formatDecimal } from '../../domain/money.ts';
import { evmTransfer, paymentUri, type EvmTransfer } from '../../domain/payment-uri.ts';
import type { Refund } from '../../domain/refund.ts';
import { unexplainedGrowth, type UnexplainedGrowth } from '../../store/refund-balances.ts';
import { payoutOf, type RefundPayout } from '../../store/refund-payouts.ts';
import { findRefund } from '../../store/refunds.ts';
import type { App } from '../context.ts';
import type { Rejected } from '../rejected.ts';
import { checkRefundAddress } from './refund-address.ts';
import { coverOf } from './refund-cover.ts';
import { paidBy, refundPsbt, type PsbtAdvice, type UtxoAccess } from './refund-psbt.ts';

/** Exactly what the merchant signs, in every form that their wallet may need. */
export interface RefundInstructions {
  readonly kind: 'done';
  readonly refund: Refund;
  /** For wallets that read links or QR codes. Null, like the fields below, while there is nothing to sign. */
  readonly paymentUri: string | null;
  readonly call: EvmTransfer | null;
  readonly psbt: PsbtAdvice | null;
  /** Why a pending refund must not be paid now, or what is odd about a failed one; null: nothing. */
  readonly problem: string | null;
  /** What to know before paying it, in whatever form. */
  readonly warnings: readonly string[];
}

/**
 * What pays a refund: a payment URI, and call data or a PSBT. Without `utxo` there is no PSBT. `notPaidBy`:
 * transactions that seem to have paid a failed refund, but did not. Throws `ChainUnavailableError` when the node does
 * not answer.
 */
export async function refundInstructions(
  app: App,
  id: string,
  utxo: (network: Refund['network']) => UtxoAccess | null,
  notPaidBy: readonly string[] = [],
): Promise<RefundInstructions | Rejected> {
  const refund = await findRefund(app.db, id);
  if (refund === null)
    return {
      kind: 'rejected',
      message: 'There is no such refund. Its id begins with re_; list them with: GET /v1/refunds',
    };
  const { address, network, asset, decimals, units } = refund;
  const rail = app.railFor(refund.mode);
  // Signing the instructions of a finished refund would pay it twice; a simulated refund is paid by nobody.
  const isOver = refund.status === 'completed' || (refund.status === 'pending' && address === null);
  if (isOver || rail.kind === 'sandbox') return nothingToSign(refund, null);
  const payout = await payoutOf(app.db, id);
  if (refund.status === 'failed' || address === null) {
    return nothingToSign(refund, payout === null ? null : paidAllTheSame(payout));
  }
  // The address was accepted before this kind of address was refused, or before it was handed out here.
  const checked = await checkRefundAddress(app, app.db, refund, address);
  if (checked.kind === 'invalid') {
    return nothingToSign(refund, `${address}: ${checked.message} Cancel this refund and create it anew.`);
  }
  // The payout only needs confirmations: whoever is shown instructions now would pay it twice.
  if (payout !== null && payout.state !== 'dropped') return nothingToSign(refund, paidBy(payout));
  const cover = await coverOf(app, refund, notPaidBy);
  if (cover.kind === 'short') return nothingToSign(refund, cover.message);
  const growths = await unexplainedGrowth(app.db, refund);
  const request = { asset, network, decimals, units, address, evm: rail.evmChain({ network, asset }) };
  const chain = utxo(network);
  const needsNode = familyFacts(network).refundsBy === 'psbt';
  const psbt = chain === null ? (needsNode ? NO_NODE : null) : await refundPsbt(app, refund, address, chain);
  if (psbt?.kind === 'paid') return nothingToSign(refund, psbt.message);
  return {
    kind: 'done',
    refund,
    paymentUri: paymentUri(request),
    call: evmTransfer(request),
    psbt,
    problem: null,
    warnings: [
      ...(payout === null ? [] : [mayComeBack(payout)]),
      ...cover.warnings,
      ...growths.map((growth) => mayBePaid(refund, growth)),
    ],
  };
}

function nothingToSign(refund: Refund, problem: string | null): RefundInstructions {
  return { kind: 'done', refund, paymentUri: null, call: null, psbt: null, problem, warnings: [] };
}

/** A late payout does not complete a failed refund, but nobody should pay it a second time. */
function paidAllTheSame({ transactionHash, state, isGuess }: RefundPayout): string {
  if (isGuess) {
    return `${transactionHash} paid exactly this amount to this address after the refund had failed. Unless it has nothing to do with it, do not pay the customer a second time.`;
  }
  const how = { block: 'is in a block', waiting: 'waits to be mined', dropped: 'was sent, and may be mined yet' }[
    state
  ];
  return `${transactionHash} pays exactly this refund to its address and ${how}. Do not pay the customer a second time.`;
}

function mayComeBack({ transactionHash }: RefundPayout): string {
  return `${transactionHash} was to pay this refund and is in no block now. Before you pay again, make sure that it can no longer be mined: spend one of the same coins, or use the same nonce.`;
}

function mayBePaid({ id, asset, decimals }: Refund, { refundId, address, units, height }: UnexplainedGrowth): string {
  const which =
    refundId === id ? 'this refund' : `${encodeId('refund', refundId)}, which gave back money of the same payment,`;
  return (
    `The balance of ${address} grew by ${formatDecimal(units, decimals)} ${asset} up to block ${height}, and no node shows by what: ` +
    `a contract (a Safe, say) may have paid ${which} already. Look at the internal transactions of the address in a block explorer before you pay. ` +
    'If it was paid, do not pay again: cancel this refund, or leave it to run out, and make no other for the same money.'
  );
}

const NO_NODE: PsbtAdvice = {
  kind: 'none',
  message: 'A PSBT needs a node of the network that knows which outputs are unspent. Pay by the payment URI instead.',
};
