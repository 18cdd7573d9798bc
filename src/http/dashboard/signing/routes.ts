import { explorerOf } from '../../../app/explorer.ts';
import { keepReported } from '../../../app/refunds/keep-sent.ts';
import { noteShown } from '../../../app/refunds/shown-to.ts';
import { readRefund } from '../../../app/refunds/change-refund.ts';
import type { PaidTogether } from '../../../app/refunds/refund-held.ts';
import type { SharedInstructions } from '../../../app/refunds/refund-instructions.ts';
import { decodeId, encodeId } from '../../../domain/id.ts';
import { fiatDecimals, formatDecimal } from '../../../domain/money.ts';
import type { Sentence } from '../../../domain/sentence.ts';
import { familyFacts, isEvmNetwork, NETWORK_FACTS, transactionPage } from '../../../domain/networks.ts';
import { payoutProgress } from '../../../store/refunds/sent-payouts.ts';
import { publicPaymentId } from '../../../domain/payment-kind.ts';
import { isoTime } from '../../../wire/time.ts';
import { invalid, notFound, RequestError } from '../../errors.ts';
import { badField, wordsFor } from '../refusal-words.ts';
import { pageOf, walletChainOf } from '../record-parts.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { ProjectScope } from '../scope.ts';
import type { Signing } from './contract.ts';

const SIGNING = '/dashboard/api/projects/:project/:mode/signing';
const RULE = { action: 'create_refunds' } as const;
/** The size of the longest signed transaction that is read, plus the rest of the body. */
const MAX_BODY_BYTES = 2_100_000;

/** Signing refunds: showing the transaction, checking the signed one, and the progress of the payment. */
export function signingRoutes(routes: Routes, dashboard: Dashboard): void {
  const {
    people: { app: core },
    signing,
  } = dashboard;
  routes.add(`POST ${SIGNING}`, RULE, async ({ scope, body, own, request }) => {
    const refunds = await refundsOf(dashboard, scope, body.refunds);
    const shown = await signing.show(refunds);
    if (shown.kind === 'unavailable') throw new RequestError('service_unavailable', shown.message);
    const [{ refund } = {}] = shown.refunds;
    // Several wallets can send the same call, while coins are spent once.
    const others = shown.call === null || refund === undefined ? [] : await noteShown(own, refund);
    return {
      ...signingView(shown, wordsFor(request)),
      shown_to: others.map(({ name, at }) => ({ name, at: isoTime(at) })),
    };
  });
  routes.add(`POST ${SIGNING}/send`, { ...RULE, bodyLimit: MAX_BODY_BYTES }, async ({ scope, body, own, request }) => {
    const refunds = await refundsOf(dashboard, scope, body.refunds);
    const sent = await signing.send(own, refunds, body.signed);
    if (sent.kind === 'unavailable') throw new RequestError('service_unavailable', sent.message);
    const say = wordsFor(request);
    return {
      outcome: sent.kind,
      transaction_hash: sent.kind === 'refused' ? null : sent.transactionHash,
      message: sent.kind === 'sent' ? null : say(sent.message),
      differences: sent.kind === 'refused' ? sent.differences.map(say) : [],
    };
  });
  routes.add(`POST ${SIGNING}/sent`, RULE, async ({ scope, body, own }) => {
    const [refund] = await refundsOf(dashboard, scope, [body.refund]);
    if (refund.mode === 'test' || !isEvmNetwork(refund.network)) {
      throw invalid('refund', 'refund must be a live refund on an EVM network. The service sends all other refunds.');
    }
    if (!/^0x[0-9a-f]{64}$/.test(body.transaction_hash)) {
      throw badField('transaction_hash', 'transaction_hash', {});
    }
    const kept = await keepReported(own, refund, body.transaction_hash);
    if (kept.kind === 'refused') throw badField('refund', kept.message.code, kept.message.values);
    return {};
  });
  routes.add(`GET ${SIGNING}/progress`, RULE, async ({ scope, query }) => {
    const refunds = await refundsOf(dashboard, scope, query.refunds.split(','));
    const progress = await payoutProgress(
      core.db,
      refunds.map(({ id }) => id),
    );
    return {
      data: refunds.map((refund) => {
        const step = progress.find(({ refundId }) => refundId === refund.id);
        const hash = refund.transactionHash ?? step?.hash ?? null;
        const explorer = explorerOf(core.railFor(refund.mode), refund);
        return {
          refund: encodeId('refund', refund.id),
          status: refund.status,
          transaction_hash: hash,
          explorer_url: hash === null ? null : pageOf(explorer, hash, transactionPage),
          state: step?.state ?? null,
          confirmations: step?.confirmations ?? 0,
          needed: step?.needed ?? 1,
          reason: step?.reason ?? null,
        };
      }),
    };
  });
}

/** The refunds of this project and mode with these ids, in this order. */
async function refundsOf(
  { people: { app: core } }: Dashboard,
  { projectId, mode }: ProjectScope,
  ids: readonly string[],
): Promise<PaidTogether> {
  if (new Set(ids).size < ids.length) throw invalid('refunds', 'refunds must name each refund only once.');
  const refunds = await Promise.all(
    ids.map(async (text) => {
      const id = decodeId('refund', text);
      const refund = id === null ? null : await readRefund(core, { id, projectId, mode });
      if (refund === null) throw notFound('There is no such refund in this project and mode.');
      return refund;
    }),
  );
  const [first, ...rest] = refunds;
  if (first === undefined) throw invalid('refunds', 'refunds must name at least one refund.');
  if (rest.some(({ network }) => network !== first.network)) {
    throw invalid('refunds', 'refunds must all be on the same network, as a transaction pays on only one network.');
  }
  if (rest.length > 0 && familyFacts(first.network).refundsBy !== 'psbt') {
    const { label } = NETWORK_FACTS[first.network];
    throw invalid('refunds', `refunds must name only one refund. On ${label}, each refund needs its own transaction.`);
  }
  return [first, ...rest];
}

function signingView(
  { refunds, paymentUri, call, psbt, problem, warnings }: SharedInstructions,
  say: (sentence: Sentence) => string,
): Omit<Signing, 'shown_to'> {
  const [first] = refunds;
  if (first === undefined) throw new Error('Nothing is shown for no refund.');
  const { network, decimals } = first.refund;
  const why = psbt?.kind === 'none' ? psbt.message : problem;
  const coins = (units: bigint): string => formatDecimal(units, decimals);
  return {
    refunds: refunds.map(({ refund, problem: its }) => ({
      id: encodeId('refund', refund.id),
      payment: publicPaymentId({ id: refund.paymentId, api: refund.paymentApi }),
      asset: refund.asset,
      network: refund.network,
      crypto_amount: formatDecimal(refund.units, refund.decimals),
      amount: formatDecimal(refund.amountMinor, fiatDecimals(refund.currency)),
      currency: refund.currency,
      address: refund.address,
      problem: its && say(its),
    })),
    network_name: NETWORK_FACTS[network].label,
    payment_uri: paymentUri,
    call: call && { chain_id: call.chainId, to: call.to, value: String(call.value), data: call.data },
    chain: call !== null && isEvmNetwork(network) ? walletChainOf(network, call.chainId) : null,
    psbt:
      psbt?.kind === 'ok'
        ? {
            psbt: psbt.psbt,
            fee: coins(psbt.feeUnits),
            change: coins(psbt.changeUnits),
            change_address: psbt.changeAddress,
          }
        : null,
    problem: why && say(why),
    warnings: [...warnings, ...(psbt?.kind === 'ok' ? psbt.warnings : [])].map(say),
  };
}
