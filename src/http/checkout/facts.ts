import { encodeId } from '../../domain/id.ts';
import type { Payment } from '../../domain/payment.ts';
import { isFinal, isOpen } from '../../domain/status.ts';
import type { Refund } from '../../domain/refund.ts';
import { listRefunds } from '../../store/refunds.ts';
import type { Api } from '../api.ts';
import { pageVersion, type PageContext, type PageFacts } from './present.ts';
import type { RefundNews } from './view.ts';

const NO_FACTS: PageFacts = { confirmations: null, refunds: [] };

/** Everything besides the payment that the page depends on. Only reads what the payment's status can need. */
export async function pageFacts({ app }: Pick<Api, 'app'>, payment: Payment): Promise<PageFacts> {
  if (isFinal(payment.status)) return { ...NO_FACTS, refunds: await refundNews(app, payment) };
  if (payment.status !== 'confirming') return NO_FACTS;
  return { ...NO_FACTS, confirmations: await app.railFor(payment.mode).confirmations(payment) };
}

/** The version that a stream of this payment's changes compares. */
export async function currentVersion(api: Pick<Api, 'app'>, payment: Payment): Promise<string> {
  return pageVersion(payment, await pageFacts(api, payment), api.app.clock());
}

/** The tokens and the chain with which the payment can be paid; not needed once it is paid. */
export async function payingFacts(
  { app }: Pick<Api, 'app'>,
  payment: Payment,
): Promise<Pick<PageContext, 'tokens' | 'evm' | 'addressIndex' | 'payable'>> {
  const { quote } = payment;
  if (!isOpen(payment.status)) return { tokens: [], evm: null, addressIndex: null, payable: false };
  const rail = app.railFor(payment.mode);
  const [tokens, addressIndex] = await Promise.all([
    payment.surface === 'transaction' ? rail.tokens(payment.projectId) : [],
    rail.addressIndex(payment),
  ]);
  return {
    tokens: tokens.map(({ asset, network }) => ({ asset, network })),
    evm: quote === null ? null : rail.evmChain(quote),
    addressIndex,
    payable: rail.kind === 'chain',
  };
}

/** More refunds of one payment than this are not listed on its page. */
const MAX_REFUNDS = 10;

async function refundNews(app: Api['app'], payment: Payment): Promise<readonly RefundNews[]> {
  const { projectId, mode, id, surface } = payment;
  const scope = { projectId, mode, status: null, payment: { id, surface } };
  const { refunds } = await listRefunds(app.db, scope, { limit: MAX_REFUNDS, offset: 0 });
  return refunds.flatMap((refund) => {
    const state = stateOf(refund);
    const { units, decimals, asset } = refund;
    return state === null ? [] : [{ path: `/refund/${encodeId('refund', refund.id)}`, state, units, decimals, asset }];
  });
}

/** A failed refund is up to the shop, which creates another. */
function stateOf({ status, address }: Refund): RefundNews['state'] | null {
  if (status === 'failed') return null;
  if (status === 'completed') return 'sent';
  return address === null ? 'offered' : 'sending';
}
