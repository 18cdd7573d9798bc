import { isPayableIn, withFirst } from '../../domain/coin-choice.ts';
import { PAYMENT_KINDS } from '../../domain/payment-kind.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../../app/projects/access.ts';
import { createLanguageNotes } from '../../app/notifications/note-language.ts';
import type { PaymentWatch } from '../../app/live/payment-watch.ts';
import type { Documents } from '../../app/payment-requests/invoice-pdf.ts';
import type { Payment } from '../../domain/payment.ts';
import type { Problems } from '../../domain/problems.ts';
import type { Api } from '../api.ts';
import { asRequestError, RequestError, reportFault } from '../errors.ts';
import type { Assets } from '../pages/assets.ts';
import { frameOf, type PageRequest, sendPage } from './frame.ts';
import { renderPaymentPage } from './page.ts';
import { presentPaymentPage, type PageFacts, pageVersion, type PageContext } from './present.ts';
import type { Notice, RefundNews, WrongMoney } from './view.ts';
import type { Project } from '../../store/projects/projects.ts';
import { explorerOf } from '../../app/explorer.ts';
import { monitoringMsOf } from '../../app/payments/payment-policy.ts';
import { encodeId } from '../../domain/id.ts';
import { otherMoney } from '../../domain/other-money.ts';
import { isFinal, isOpen } from '../../domain/status.ts';
import { wishesOf, type PageWishes } from '../../domain/shop-checkout.ts';
import { isInParts } from '../../domain/payment-request.ts';
import type { Refund } from '../../domain/refund.ts';
import { findRequest } from '../../store/payments/payment-requests.ts';
import { paidAfterFailing } from '../../store/refunds/late-payouts.ts';
import { listRefunds } from '../../store/refunds/refunds.ts';
import { findTransfers } from '../../store/payments/transfers.ts';

/** The content of a payment's page, apart from the request. */
interface PageMaterial {
  readonly payment: Payment;
  readonly project: Project | null;
  readonly facts: PageFacts;
  readonly paying: PayingFacts;
  readonly wishes: PageWishes;
  /** When it was read, in epoch milliseconds. */
  readonly readAt: number;
}

/** The payments of requested pages, as this process last read them. */
interface LastKnown {
  keep(material: PageMaterial): void;
  find(payment: Pick<Payment, 'id' | 'api'>): PageMaterial | null;
}

/** Each takes some kilobytes. */
const MAX_KEPT = 1_000;

/** Keeps the newest. A page does not show the merchant's texts, which may be the largest part of a payment. */
function createLastKnown(): LastKnown {
  const kept = new Map<string, PageMaterial>();
  return {
    keep: (material) => {
      const { id } = material.payment;
      // A map keeps the order of insertion: its first key was requested longest ago.
      kept.delete(id);
      const [oldest] = kept.keys();
      if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      const { payment } = material;
      kept.set(id, { ...material, payment: { ...payment, metadata: {}, shopMetadata: null, shopCheckout: null } });
    },
    find: ({ id, api }) => {
      const known = kept.get(id);
      return known?.payment.api === api ? known : null;
    },
  };
}

type Request = FastifyRequest<PageRequest>;

/** The dependencies of the hosted pages. */
export interface Checkout extends Api {
  readonly access: Pick<Access, 'project' | 'hasLogo'>;
  readonly assets: Assets;
  readonly watch: PaymentWatch;
  readonly problems: Problems;
  /** Invoices and receipts as PDF. */
  readonly documents: Documents;
}

/** How long a page waits for the database, while the customer sees an empty page. Reads take milliseconds. */
const PATIENCE_MS = 4_000;
/** How long it waits once the database has not answered others either. */
const SHORT_PATIENCE_MS = 2_000;

/** The result of `read`, which may continue; fails as if the database were down if it takes too long. */
export async function patiently<Result>({ watch }: Pick<Checkout, 'watch'>, read: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const giveUp = () => late.reject(new RequestError('service_unavailable', 'The database is not responding.'));
  const timer = setTimeout(giveUp, watch.isDown() ? SHORT_PATIENCE_MS : PATIENCE_MS);
  try {
    return await Promise.race([read, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export interface PaymentPages {
  /**
   * Sends the current page of a payment, or else its last known state; false if there is no such payment. A reply is
   * itself a promise of being sent, so none is returned.
   */
  current(request: Request, reply: FastifyReply, wanted: Pick<Payment, 'id' | 'api'>): Promise<boolean>;
  /** Sends the page of a payment that was just read, with the reason if an action was refused. */
  show(request: Request, reply: FastifyReply, payment: Payment, notice: Notice): Promise<void>;
}

/** The pages of payments. While the database does not answer, they show the last known state, and say so. */
export function paymentPages(checkout: Checkout): PaymentPages {
  const lastKnown = createLastKnown();
  const noteLanguage = createLanguageNotes(checkout.app);

  async function materialOf(payment: Payment): Promise<PageMaterial> {
    const readAt = checkout.app.clock();
    const wishes = wishesOf(payment.shopCheckout);
    const [project, facts, paying] = await Promise.all([
      checkout.access.project(payment.projectId),
      pageFacts(checkout, payment),
      payingFacts(checkout, payment, wishes.firstCoin),
    ]);
    const material = { payment, project, facts, paying, wishes, readAt };
    lastKnown.keep(material);
    return material;
  }

  async function send(
    request: Request,
    reply: FastifyReply,
    { payment, project, facts, paying, wishes, readAt }: PageMaterial,
    { isStale = false, notice = null }: { readonly isStale?: boolean; readonly notice?: Notice | null },
  ): Promise<void> {
    const access = { project: () => project };
    const { frame, framedBy } = await frameOf(access, request, payment.projectId, wishes.language);
    const view = presentPaymentPage(payment, {
      ...facts,
      ...paying,
      now: checkout.app.clock(),
      readAt: isStale ? readAt : null,
      frame,
      wantsOtherToken: request.query['choose'] === 'token',
      notice,
      returnsToShop: wishes.returnsToShop,
    });
    void sendPage(request, reply, renderPaymentPage(view, checkout.assets), framedBy);
    // Programs that only look at a link accept no language.
    const isReader = frame.languageGiven || request.headers['accept-language'] !== undefined;
    if (isReader && !isStale) noteLanguage(payment, frame.locale.code);
  }

  return {
    current: async (request, reply, wanted) => {
      const read = async (): Promise<PageMaterial | null> => {
        const payment = await checkout.reader.read(wanted);
        return payment && materialOf(payment);
      };
      try {
        const material = await patiently(checkout, read());
        if (material === null) return false;
        await send(request, reply, material, {});
        return true;
      } catch (error) {
        const known = lastKnown.find(wanted);
        const { status } = asRequestError(error);
        if (known === null || status < 500) throw error;
        reportFault(checkout.problems, request, status, error);
        await send(request, reply, known, { isStale: true });
        return true;
      }
    },
    show: async (request, reply, payment, notice) => send(request, reply, await materialOf(payment), { notice }),
  };
}

/** The facts about a payment of which nothing else is known. */
export const NO_FACTS: PageFacts = {
  confirmations: null,
  refunds: [],
  wrongMoney: [],
  isActive: true,
  isShared: false,
};

/** The dependencies of reading the facts. */
type Reading = Pick<Api, 'app'> & { readonly access: Pick<Access, 'project'> };

/** Everything that the page depends on besides the payment. Reads only the facts that the payment's status can need. */
export async function pageFacts({ app, access }: Reading, payment: Payment): Promise<PageFacts> {
  const isShared = await isSharedInvoice(app, payment);
  const facts = { ...NO_FACTS, isShared };
  if (isFinal(payment.status)) {
    const [refunds, wrongMoney] = await Promise.all([refundNews(app, payment), wrongMoneyOf(app, payment)]);
    return { ...facts, refunds: isShared ? [] : refunds, wrongMoney: notRefunded(wrongMoney, refunds) };
  }
  if (isOpen(payment.status)) {
    const [wrongMoney, project] = await Promise.all([wrongMoneyOf(app, payment), access.project(payment.projectId)]);
    return { ...facts, wrongMoney, isActive: project?.active !== false };
  }
  return payment.status === 'confirming'
    ? { ...facts, confirmations: await app.railFor(payment.mode).confirmations(payment) }
    : facts;
}

/** Whether the page of a payment request leads all its visitors to this invoice. */
export async function isSharedInvoice({ db }: Api['app'], { paymentRequestId: id }: Payment): Promise<boolean> {
  const request = id === null ? null : await findRequest(db, { id });
  return request !== null && isInParts(request);
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

type PayingFacts = Pick<PageContext, 'tokens' | 'evm' | 'explorer' | 'payable' | 'monitoringMs'>;

/**
 * The chain of the payment, and the tokens it can be paid in, which are not needed once it is paid; `firstCoin` is the
 * shop's.
 */
async function payingFacts({ app, access }: Reading, payment: Payment, firstCoin: string | null): Promise<PayingFacts> {
  const { quote } = payment;
  const rail = app.railFor(payment.mode);
  const project = payment.mode === 'live' ? await access.project(payment.projectId) : null;
  const monitoringMs = monitoringMsOf(app, project?.monitoringHours ?? null);
  const explorer = quote === null ? null : explorerOf(rail, quote);
  if (!isOpen(payment.status)) return { tokens: [], evm: null, explorer, payable: false, monitoringMs };
  const tokens = PAYMENT_KINDS[payment.api].choosesToken
    ? (await rail.listed(payment.projectId)).filter((token) => isPayableIn(payment.coins, token))
    : [];
  return {
    tokens: withFirst(tokens, firstCoin).map(({ asset, network }) => ({ asset, network })),
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
  const failed = refunds.filter(({ status }) => status === 'failed');
  const paid = await paidAfterFailing(
    app.db,
    failed.map((refund) => refund.id),
  );
  return refunds.flatMap((refund) => {
    const state = paid.has(refund.id) ? 'sent' : stateOf(refund);
    const { units, decimals, asset, network } = refund;
    const path = `/refund/${encodeId('refund', refund.id)}`;
    return state === null ? [] : [{ path, state, units, decimals, asset, network }];
  });
}

/** A failed refund that nothing paid is left to the shop, which creates another. */
function stateOf({ status, address }: Refund): RefundNews['state'] | null {
  if (status === 'failed') return null;
  if (status === 'completed') return 'sent';
  return address === null ? 'offered' : 'sending';
}
