import { familyFacts } from '../../domain/networks.ts';
import { encodeId } from '../../domain/id.ts';
import { formatDecimal } from '../../domain/money.ts';
import { evmTransfer, paymentUri, type EvmTransfer } from '../../domain/payment-uri.ts';
import type { Refund } from '../../domain/refund.ts';
import { unexplainedGrowth, type UnexplainedGrowth } from '../../store/refunds/refund-balances.ts';
import { payoutOf, type RefundPayout } from '../../store/refunds/refund-payouts.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { lastSentPayout } from '../../store/refunds/sent-payouts.ts';
import { isoTime } from '../../wire/time.ts';
import type { App } from '../context.ts';
import { refusalText, rejected, type Rejected } from '../rejected.ts';
import { checkRefundAddress } from './refund-address.ts';
import { coverOf } from './refund-cover.ts';
import { paidBy, type PaidTogether } from './refund-held.ts';
import { unreadBeforePaying } from './unread-money.ts';
import { refundPsbt, type PsbtAdvice, type UtxoAccess } from './refund-psbt.ts';

/** The instructions that the merchant signs, in every form that their wallet may need. */
export interface RefundInstructions {
  readonly kind: 'done';
  readonly refund: Refund;
  /** For wallets that read links or QR codes. Null, like the fields below, while there is nothing to sign. */
  readonly paymentUri: string | null;
  readonly call: EvmTransfer | null;
  readonly psbt: PsbtAdvice | null;
  /** Why a pending refund must not be paid now, or an irregularity of a failed one; null if there is none. */
  readonly problem: string | null;
  /** Warnings before paying, in whatever form. */
  readonly warnings: readonly string[];
}

/**
 * Makes the instructions that pay a refund: a payment URI, and call data or a PSBT. Without `utxo` there is no PSBT.
 * `notPaidBy`: transactions that seem to have paid a failed refund, but did not. Throws `ChainUnavailableError` when
 * the node does not answer.
 */
export async function refundInstructions(
  app: App,
  id: string,
  utxo: (network: Refund['network']) => UtxoAccess | null,
  notPaidBy: readonly string[] = [],
): Promise<RefundInstructions | Rejected> {
  const refund = await findRefund(app.db, id);
  if (refund === null) return rejected('no_refund');
  const { refunds, problem, ...rest } = await instructionsFor(app, [refund], utxo, notPaidBy);
  return { ...rest, refund, problem: refunds[0]?.problem ?? problem };
}

/** The instructions that pay one refund, or several of one network and wallet in one transaction. */
export interface SharedInstructions extends Pick<
  RefundInstructions,
  'kind' | 'paymentUri' | 'call' | 'psbt' | 'warnings'
> {
  /**
   * Each refund, and why it must not be paid now; null if it may. If any refund has a problem, there is nothing to
   * sign.
   */
  readonly refunds: readonly { readonly refund: Refund; readonly problem: string | null }[];
  /** Why none of the refunds may be paid now; null if they may. */
  readonly problem: string | null;
}

/** Makes instructions for several refunds; the URI and the call exist only for a single refund. */
export async function instructionsFor(
  app: App,
  refunds: PaidTogether,
  utxo: (network: Refund['network']) => UtxoAccess | null,
  notPaidBy: readonly string[] = [],
): Promise<SharedInstructions> {
  const examined: (Examined & { readonly refund: Refund })[] = [];
  for (const refund of refunds) examined.push({ refund, ...(await examine(app, refund, notPaidBy)) });
  const payable = examined.filter((one) => one.kind === 'payable');
  const nothing = (problem: string | null): SharedInstructions => ({
    kind: 'done',
    refunds: examined.map((one) => ({ refund: one.refund, problem: one.kind === 'nothing' ? one.problem : null })),
    problem,
    paymentUri: null,
    call: null,
    psbt: null,
    warnings: [],
  });
  if (payable.length < refunds.length) return nothing(null);
  const [{ network, asset, decimals, units, mode }] = refunds;
  const chain = utxo(network);
  const needsNode = familyFacts(network).refundsBy === 'psbt';
  const addresses = payable.map(({ address }) => address);
  const psbt = chain === null ? (needsNode ? NO_NODE : null) : await refundPsbt(app, refunds, addresses, chain);
  if (psbt?.kind === 'paid') return nothing(psbt.message);
  const evm = app.railFor(mode).evmChain({ network, asset });
  const request = { asset, network, decimals, units, address: addresses[0] ?? '', evm };
  return {
    ...nothing(null),
    ...(refunds.length === 1 ? { paymentUri: paymentUri(request), call: evmTransfer(request) } : {}),
    psbt,
    warnings: payable.flatMap(({ warnings }) => warnings),
  };
}

type Examined =
  | { readonly kind: 'payable'; readonly address: string; readonly warnings: readonly string[] }
  | { readonly kind: 'nothing'; readonly problem: string | null };

/** Whether a refund may be paid now, and warnings before. */
export async function examine(app: App, refund: Refund, notPaidBy: readonly string[]): Promise<Examined> {
  const { id, address } = refund;
  // Signing the instructions of a finished refund would pay it twice; a simulated refund is paid by nobody.
  const isOver = refund.status === 'completed' || (refund.status === 'pending' && address === null);
  if (isOver || app.railFor(refund.mode).kind === 'sandbox') return nothingToSign(null);
  const unread = refund.status === 'pending' ? await unreadBeforePaying(app, refund) : null;
  const payout = await payoutOf(app.db, id);
  if (refund.status === 'failed' || address === null) {
    return nothingToSign(payout === null ? null : paidAllTheSame(payout));
  }
  // The payout only needs confirmations: a person who saw instructions now would pay it twice.
  if (payout !== null && payout.state !== 'dropped') return nothingToSign(paidBy(payout));
  if (unread?.kind === 'waiting') return nothingToSign(`${unread.text}. ${SHOW_AGAIN}`);
  const sent = payout === null ? await lastSentPayout(app.db, id) : null;
  const sending = [...(sent === null ? [] : [wasSent(sent)]), ...(payout === null ? [] : [mayComeBack(payout)])];
  const growths = (await unexplainedGrowth(app.db, refund)).map((growth) => mayBePaid(refund, growth));
  // The address was accepted before this kind of address was refused.
  const checked = await checkRefundAddress(app, app.db, refund, address);
  if (checked.kind === 'invalid') {
    const doubts = [...sending, ...growths];
    const wayOut = 'If nothing has been sent to this address yet, cancel this refund and create a new one.';
    const message = `${address}: ${refusalText(checked.sentence, 'address')}`;
    return nothingToSign([message, ...(doubts.length > 0 ? doubts : [wayOut])].join(' '));
  }
  const cover = await coverOf(app, refund, notPaidBy);
  if (cover.kind === 'short') return nothingToSign(cover.message);
  const unreadBlocks = unread === null ? [] : [`${unread.text}. ${LOOK_FIRST}`];
  return { kind: 'payable', address, warnings: [...unreadBlocks, ...sending, ...cover.warnings, ...growths] };
}

function nothingToSign(problem: string | null): Examined {
  return { kind: 'nothing', problem };
}

/** A late payout does not complete a failed refund, but nobody should pay the refund a second time. */
function paidAllTheSame({ transactionHash, state, isGuess }: RefundPayout): string {
  if (isGuess) {
    return `${transactionHash} paid exactly this amount to this address and was detected after the refund had failed. Unless this transaction has nothing to do with the refund, do not pay the customer a second time.`;
  }
  const how = { block: 'is in a block', waiting: 'is waiting to be mined', dropped: 'was sent and may still be mined' }[
    state
  ];
  return `${transactionHash} pays exactly this refund to its address and ${how}. Do not pay the customer a second time.`;
}

function mayComeBack({ transactionHash }: RefundPayout): string {
  return `${transactionHash} was meant to pay this refund. Either no node has this transaction, or it is in a block without paying the refund. Look up the transaction before you pay again. If it can still be mined, spend one of the same inputs or use the same nonce, so that only one of the two transactions can be mined. If it paid the customer another amount, settle that first.`;
}

function wasSent({ hash, at }: { readonly hash: string; readonly at: number }): string {
  return `${hash} was sent at ${isoTime(at)} to pay this refund and is not in a block yet. Do not pay the refund a second time. Wait, or make sure in your wallet that the transaction failed and can no longer be mined.`;
}

function mayBePaid({ id, asset, decimals }: Refund, { refundId, address, units, height }: UnexplainedGrowth): string {
  const which = refundId === id ? 'this refund' : `${encodeId('refund', refundId)}, a refund of the same payment`;
  return (
    `The balance of ${address} grew by ${formatDecimal(units, decimals)} ${asset} up to block ${height}, and no node shows which transaction caused this. ` +
    `A contract, such as a Safe, may already have paid ${which}. Look at the internal transactions of the address in a block explorer before you pay. ` +
    'If the refund was paid, do not pay again. Cancel this refund or let it expire, and create no other refund for the same money.'
  );
}

const SHOW_AGAIN =
  'Do not pay the refund before they are read. Show the refund again in a moment, while the service is running and a node of the network answers.';

const LOOK_FIRST =
  'Show the refund again in a moment. If the node stays unavailable, make sure in your wallet that nobody has paid the refund before you pay it.';

const NO_NODE: PsbtAdvice = {
  kind: 'none',
  message:
    'A PSBT requires a node of the network that knows which outputs are unspent. Pay with the payment URI instead.',
};
