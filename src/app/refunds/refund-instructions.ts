import { familyFacts } from '../../domain/networks.ts';
import { encodeId } from '../../domain/id.ts';
import { formatDecimal } from '../../domain/money.ts';
import { evmTransfer, paymentUri, type EvmTransfer } from '../../domain/payment-uri.ts';
import type { Refund } from '../../domain/refund.ts';
import { inARow, sentence, type Sentence } from '../../domain/sentence.ts';
import { unexplainedGrowth, type UnexplainedGrowth } from '../../store/refunds/refund-balances.ts';
import { payoutOf, type RefundPayout } from '../../store/refunds/refund-payouts.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { lastSentPayout } from '../../store/refunds/sent-payouts.ts';
import { isoTime } from '../../wire/time.ts';
import type { App } from '../context.ts';
import { rejected, type Rejected } from '../rejected.ts';
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
  readonly problem: Sentence | null;
  /** Warnings before paying, in whatever form. */
  readonly warnings: readonly Sentence[];
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
  readonly refunds: readonly { readonly refund: Refund; readonly problem: Sentence | null }[];
  /** Why none of the refunds may be paid now; null if they may. */
  readonly problem: Sentence | null;
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
  const nothing = (problem: Sentence | null): SharedInstructions => ({
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
  | { readonly kind: 'payable'; readonly address: string; readonly warnings: readonly Sentence[] }
  | { readonly kind: 'nothing'; readonly problem: Sentence | null };

/** Whether a refund may be paid now, and warnings before. */
export async function examine(app: App, refund: Refund, notPaidBy: readonly string[]): Promise<Examined> {
  const { id, address, network } = refund;
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
  if (unread === 'waiting') return nothingToSign(sentence('sign_unread_waiting', { network }));
  const sent = payout === null ? await lastSentPayout(app.db, id) : null;
  const sending = [...(sent === null ? [] : [wasSent(sent)]), ...(payout === null ? [] : [mayComeBack(payout)])];
  const growths = (await unexplainedGrowth(app.db, refund)).map((growth) => mayBePaid(refund, growth));
  // The address was accepted before this kind of address was refused.
  const checked = await checkRefundAddress(app, app.db, refund, address);
  if (checked.kind === 'invalid') {
    const doubts = [...sending, ...growths];
    const message = sentence('address_refused', { address, why: checked.sentence });
    return nothingToSign(inARow([message, ...(doubts.length > 0 ? doubts : [sentence('nothing_sent_yet')])]));
  }
  const cover = await coverOf(app, refund, notPaidBy);
  if (cover.kind === 'short') return nothingToSign(cover.message);
  const unreadBlocks = unread === null ? [] : [sentence('sign_unread_blocks', { network })];
  return { kind: 'payable', address, warnings: [...unreadBlocks, ...sending, ...cover.warnings, ...growths] };
}

function nothingToSign(problem: Sentence | null): Examined {
  return { kind: 'nothing', problem };
}

/** A late payout does not complete a failed refund, but nobody should pay the refund a second time. */
function paidAllTheSame({ transactionHash: hash, state, isGuess }: RefundPayout): Sentence {
  return sentence(`late_payout_${isGuess ? 'guess' : state}`, { hash });
}

function mayComeBack({ transactionHash: hash }: RefundPayout): Sentence {
  return sentence('payout_gone', { hash });
}

function wasSent({ hash, at }: { readonly hash: string; readonly at: number }): Sentence {
  return sentence('payout_unmined', { hash, at: isoTime(at) });
}

function mayBePaid({ id, asset, decimals }: Refund, { refundId, address, units, height }: UnexplainedGrowth): Sentence {
  const which =
    refundId === id ? sentence('this_refund') : sentence('other_refund', { refund: encodeId('refund', refundId) });
  return sentence('balance_grew', { address, units: formatDecimal(units, decimals), asset, height, which });
}

const NO_NODE: PsbtAdvice = { kind: 'none', message: sentence('psbt_needs_node') };
