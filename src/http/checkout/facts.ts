import type { Access } from '../../app/projects/access.ts';
import { explorerOf } from '../../app/explorer.ts';
import { monitoringMsOf } from '../../app/payments/payment-policy.ts';
import { encodeId } from '../../domain/id.ts';
import { otherMoney } from '../../domain/other-money.ts';
import type { Payment } from '../../domain/payment.ts';
import { isFinal, isOpen } from '../../domain/status.ts';
import type { Refund } from '../../domain/refund.ts';
import { listRefunds } from '../../store/refunds/refunds.ts';
import { findTransfers } from '../../store/payments/transfers.ts';
import type { Api } from '../api.ts';
import { pageVersion, type PageContext, type PageFacts } from './present.ts';
import type { RefundNews, WrongMoney } from './view.ts';

/** The facts about a payment of which nothing else is known. */
export const NO_FACTS: PageFacts = { confirmations: null, refunds: [], wrongMoney: [], isActive: true };

/** The dependencies of reading the facts. */
type Reading = Pick<Api, 'app'> & { readonly access: Pick<Access, 'project'> };

/** Everything that the page depends on besides the payment. Reads only the facts that the payment's status can need. */
export async function pageFacts({ app, access }: Reading, payment: Payment): Promise<PageFacts> {
  if (isFinal(payment.status)) {
    const [refunds, wrongMoney] = await Promise.all([refundNews(app, payment), wrongMoneyOf(app, payment)]);
    return { ...NO_FACTS, refunds, wrongMoney: notRefunded(wrongMoney, refunds) };
  }
  if (isOpen(payment.status)) {
    const [wrongMoney, project] = await Promise.all([wrongMoneyOf(app, payment), access.project(payment.projectId)]);
    return { ...NO_FACTS, wrongMoney, isActive: project?.active !== false };
  }
  return payment.status === 'confirming'
    ? { ...NO_FACTS, confirmations: await app.railFor(payment.mode).confirmations(payment) }
    : NO_FACTS;
}

/** Wrong money in tokens that no refund returns: the same asset on another network is another token. */
export function notRefunded(wrongMoney: readonly WrongMoney[], refunds: readonly RefundNews[]): readonly WrongMoney[] {
  return wrongMoney.filter(
    ({ asset, network }) => !refunds.some((refund) => refund.asset === asset && refund.network === network),
  );
}

/** The sandbox's addresses receive nothing, so nothing is read for its payments. */
async function wrongMoneyOf(app: Api['app'], payment: Payment): Promise<readonly WrongMoney[]> {
  const rail = app.railFor(payment.mode);
  if (rail.kind !== 'chain' || payment.quote === null) return [];
  const transfers = (await findTransfers(app.db, [payment.id])).get(payment.id) ?? [];
  const others = otherMoney(payment, transfers);
  return others.flatMap(({ asset, network, seenUnits: units }) => {
    const decimals = rail.decimals({ asset, network });
    return decimals === null ? [] : [{ asset, network, units, decimals }];
  });
}

/** The version that a stream of this payment's changes compares. */
export async function currentVersion(api: Reading, payment: Payment): Promise<string> {
  return pageVersion(payment, await pageFacts(api, payment), api.app.clock());
}

export type PayingFacts = Pick<PageContext, 'tokens' | 'evm' | 'explorer' | 'payable' | 'monitoringMs'>;

/** The chain of the payment, and the tokens it can be paid in, which are not needed once it is paid. */
export async function payingFacts({ app, access }: Reading, payment: Payment): Promise<PayingFacts> {
  const { quote } = payment;
  const rail = app.railFor(payment.mode);
  const project = payment.mode === 'live' ? await access.project(payment.projectId) : null;
  const monitoringMs = monitoringMsOf(app, project?.monitoringHours ?? null);
  const explorer = quote === null ? null : explorerOf(rail, quote);
  if (!isOpen(payment.status)) return { tokens: [], evm: null, explorer, payable: false, monitoringMs };
  const tokens = payment.api === 'transaction' ? await rail.listed(payment.projectId) : [];
  return {
    tokens: tokens.map(({ asset, network }) => ({ asset, network })),
    evm: quote === null ? null : rail.evmChain(quote),
    explorer,
    payable: rail.kind === 'chain',
    monitoringMs,
  };
}

/** More refunds of one payment than this are not listed on its page. */
const MAX_REFUNDS = 10;

async function refundNews(app: Api['app'], payment: Payment): Promise<readonly RefundNews[]> {
  const { projectId, mode, id, api } = payment;
  const scope = { projectId, mode, status: null, payment: { id, api } };
  const { refunds } = await listRefunds(app.db, scope, { limit: MAX_REFUNDS, offset: 0 });
  return refunds.flatMap((refund) => {
    const state = stateOf(refund);
    const { units, decimals, asset, network } = refund;
    const path = `/refund/${encodeId('refund', refund.id)}`;
    return state === null ? [] : [{ path, state, units, decimals, asset, network }];
  });
}

/** A failed refund is left to the shop, which creates another. */
function stateOf({ status, address }: Refund): RefundNews['state'] | null {
  if (status === 'failed') return null;
  if (status === 'completed') return 'sent';
  return address === null ? 'offered' : 'sending';
}
