import { parsePaymentId, PAYMENT_KINDS, publicPaymentId } from '../../domain/payment-kind.ts';
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { forRequest } from '../../app/context.ts';
import { explorerOf } from '../../app/explorer.ts';
import type { RefusedChange } from '../../app/payments/change-payment.ts';
import { cancelPayment, selectToken } from '../../app/payments/payment-actions.ts';
import { simulateOutcome } from '../../app/sandbox/simulate-outcome.ts';
import { MAX_STAGE_SECONDS, SIMULATIONS } from '../../domain/simulation.ts';
import { claimRefund } from '../../app/refunds/change-refund.ts';
import { decodeId } from '../../domain/id.ts';
import type { Payment } from '../../domain/payment.ts';
import type { Refund } from '../../domain/refund.ts';
import { wishesOf } from '../../domain/shop-checkout.ts';
import { paidAfterFailing } from '../../store/refunds/late-payouts.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { asRequestError, reportFault } from '../errors.ts';
import { pathOf } from '../path.ts';
import { assetRoutes } from '../pages/assets.ts';
import { checkoutEvents } from './events.ts';
import { currentVersion, isSharedInvoice, patiently, paymentPages, type Checkout } from './show-payment.ts';
import { frameOf, localeOf, type PageRequest, sendPage, brandingRoutes } from './frame.ts';
import { pageHref, paymentPath } from './present.ts';
import { leaveRoutes } from './leave-page.ts';
import { renderProblemPage, renderRefundPage } from './refund-page.ts';
import { requestPages } from './request/routes.ts';
import type { ClaimProblem, Notice, RefundStep } from './view.ts';

const page = { config: { guard: { kind: 'page' } }, schema: { hide: true } } as const;

type Request = FastifyRequest<PageRequest>;

/**
 * The hosted pages: paying a transaction or an order, and claiming a refund. They need no JavaScript and no session.
 */
export function checkoutRoutes(checkout: Checkout): (app: FastifyInstance) => Promise<void> {
  const events = checkoutEvents({
    reader: checkout.reader,
    watch: checkout.watch,
    problems: checkout.problems,
    selectorOf: parsePaymentId,
    versionOf: (payment) => currentVersion(checkout, payment),
  });
  return async (app) => {
    assetRoutes(app, checkout.assets);
    brandingRoutes(checkout)(app);
    events.routes(app);
    await app.register(async (pages) => {
      await pages.register(formbody, { bodyLimit: 8_192 });
      answerFaultsAsPages(pages, checkout);
      paymentRoutes(pages, checkout);
      refundRoutes(pages, checkout);
      requestPages(pages, checkout);
      leaveRoutes(pages, checkout);
    });
  };
}

/**
 * A merchant who simulates the end of a payment sees it end: the page then continues to the shop, as it does for
 * customers.
 */
const WATCHING = { watching: '1' } as const;

const REQUEST_ACTIONS = ['/request/:id/pay', '/request/:id/'] as const;

function paymentRoutes(app: FastifyInstance, checkout: Checkout): void {
  const { app: core } = checkout;
  const pages = paymentPages(checkout);
  app.get<PageRequest>('/pay/:id', page, async (request, reply) => {
    const wanted = parsePaymentId(request.params.id);
    if (wanted === null || !(await pages.current(request, reply, wanted))) {
      return unknown(checkout, request, reply, 'unknown_payment');
    }
    return reply;
  });
  // BTCPay's plugins make this address themselves.
  app.get<PageRequest>('/i/:id', page, (request, reply) => {
    const query = request.url.replace(/^[^?]*/, '');
    return reply
      .code(303)
      .header('location', paymentPath(request.params.id) + query)
      .send();
  });
  const action = (
    name: 'token' | 'cancel' | 'simulate',
    act: (payment: Payment, request: Request) => Promise<Notice | null>,
  ): void => {
    app.post<PageRequest>(`/pay/:id/${name}`, page, async (request, reply) => {
      const payment = await findByPublicId(checkout, request.params.id);
      if (payment === null) return unknown(checkout, request, reply, 'unknown_payment');
      const notice = await act(payment, request);
      if (notice !== null) {
        await pages.show(request, reply, await findAgain(checkout, payment), notice);
        return reply;
      }
      const { frame } = await frameOf(checkout.access, request, payment.projectId);
      return reply
        .code(303)
        .header('location', pageHref(frame, paymentPath(request.params.id), name === 'simulate' ? WATCHING : {}))
        .send();
    });
  };
  // The path of a POST may also be requested by GET: if its address is typed again, or copied to another device.
  for (const path of ['/pay/:id/token', '/pay/:id/cancel', '/pay/:id/simulate', '/pay/:id/', ...REQUEST_ACTIONS]) {
    app.get<PageRequest>(path, page, (request, reply) => reply.code(303).header('location', retryHref(request)).send());
  }
  action('token', async (payment, request) => {
    if (!PAYMENT_KINDS[payment.api].choosesToken) return 'not_open';
    if ((await checkout.access.project(payment.projectId))?.active === false) return 'not_open';
    const wanted = { asset: field(request, 'asset'), network: field(request, 'network') || null };
    return noticeOf(await selectToken(forRequest(core, request.id), { id: payment.id }, wanted));
  });
  action('cancel', async (payment, request) =>
    (await isSharedInvoice(core, payment))
      ? 'not_open'
      : noticeOf(await cancelPayment(forRequest(core, request.id), { id: payment.id })),
  );
  action('simulate', async (payment, request) => {
    const outcome = SIMULATIONS.find((name) => name === field(request, 'outcome'));
    if (outcome === undefined) return 'not_open';
    const seconds = Number(field(request, 'stages'));
    const stageMs = seconds >= 1 && seconds <= MAX_STAGE_SECONDS ? seconds * 1_000 : null;
    const changed = await simulateOutcome(forRequest(core, request.id), { id: payment.id }, outcome, stageMs);
    return changed.kind === 'not_sandbox' ? 'not_open' : noticeOf(changed);
  });
}

/** The page's code for the refusal of an action; null if it was not refused. */
function noticeOf(outcome: Awaited<ReturnType<typeof selectToken>>): Notice | null {
  switch (outcome.kind) {
    case 'changed':
      return null;
    case 'refused':
      if ('reason' in outcome) return noticeOfReason(outcome.reason);
      return outcome.param === 'amount' ? 'amount_too_small' : 'token_unavailable';
    case 'no_rate':
      return 'price_unavailable';
    case 'not_found':
    case 'replayed':
    case 'key_reused':
    case 'still_running':
      return 'not_open';
  }
}

function noticeOfReason(reason: RefusedChange['reason']): Notice {
  return reason === 'money_seen' || reason === 'expired' || reason === 'too_many_changes' ? reason : 'not_open';
}

function refundRoutes(app: FastifyInstance, checkout: Checkout): void {
  app.get<PageRequest>('/refund/:id', page, async (request, reply) => {
    const refund = await findPublicRefund(checkout, request.params.id);
    if (refund === null) return unknown(checkout, request, reply, 'unknown_refund');
    return showRefund(checkout, request, reply, refund, await stepOfRefund(checkout, refund, '', null));
  });
  app.post<PageRequest>('/refund/:id', page, async (request, reply) => {
    const { id } = request.params;
    const refund = await findPublicRefund(checkout, id);
    if (refund === null) return unknown(checkout, request, reply, 'unknown_refund');
    const typed = field(request, 'address').slice(0, 200);
    const outcome = await claimRefund(forRequest(checkout.app, request.id), refund.id, typed);
    if (outcome.kind === 'done') {
      const { frame } = await frameOf(checkout.access, request, refund.projectId);
      return reply
        .code(303)
        .header('location', pageHref(frame, refundPath(id)))
        .send();
    }
    const problem = outcome.kind !== 'refused' ? 'again' : outcome.notYours === true ? 'not_yours' : 'invalid';
    const now = (await findPublicRefund(checkout, id)) ?? refund;
    return showRefund(checkout, request, reply, now, await stepOfRefund(checkout, now, typed, problem));
  });
}

async function showRefund(
  checkout: Checkout,
  request: Request,
  reply: FastifyReply,
  refund: Refund,
  step: RefundStep,
): Promise<FastifyReply> {
  const { mode, amountMinor, currency, asset, network, decimals, units } = refund;
  const payment = await patiently(checkout, checkout.reader.read({ id: refund.paymentId }));
  const { language } = wishesOf(payment?.shopCheckout ?? null);
  const { frame, framedBy } = await frameOf(checkout.access, request, refund.projectId, language);
  const rendered = renderRefundPage(
    {
      frame,
      merchantOrderId: payment?.merchantOrderId ?? null,
      paymentName: payment === null ? '' : (payment.transactionNumber ?? publicPaymentId(payment)),
      claimPath: refundPath(request.params.id),
      explorer: explorerOf(checkout.app.railFor(mode), { asset, network }),
      mode,
      amountMinor,
      currency,
      asset,
      network,
      decimals,
      units,
      now: checkout.app.clock(),
      step,
    },
    checkout.assets,
  );
  return sendPage(request, reply, rendered, framedBy);
}

async function stepOfRefund(
  checkout: Checkout,
  refund: Refund,
  typed: string,
  problem: ClaimProblem | null,
): Promise<RefundStep> {
  const { status, transactionHash, completedAt } = refund;
  const address = refund.address ?? '';
  if (status === 'failed') {
    const hash = (await patiently(checkout, paidAfterFailing(checkout.app.db, [refund.id]))).get(refund.id);
    return hash === undefined
      ? { kind: 'failed' }
      : { kind: 'completed', address, transactionHash: hash, completedAt: null };
  }
  if (status === 'completed') return { kind: 'completed', address, transactionHash, completedAt: completedAt ?? 0 };
  return refund.address === null ? { kind: 'form', typed, problem } : { kind: 'waiting', address };
}

function refundPath(publicId: string): string {
  return `/refund/${encodeURIComponent(publicId)}`;
}

async function findByPublicId(api: Checkout, text: string): Promise<Payment | null> {
  const selector = parsePaymentId(text);
  return selector && patiently(api, api.reader.read(selector));
}

async function findAgain(api: Checkout, payment: Payment): Promise<Payment> {
  return (await api.reader.read({ id: payment.id })) ?? payment;
}

async function findPublicRefund(api: Checkout, text: string): Promise<Refund | null> {
  const id = decodeId('refund', text);
  return id === null ? null : patiently(api, findRefund(api.app.db, id));
}

function field(request: Request, name: string): string {
  const value = request.body?.[name];
  return typeof value === 'string' ? value : '';
}

function unknown(
  { assets }: Pick<Checkout, 'assets'>,
  request: Request,
  reply: FastifyReply,
  kind: 'unknown_payment' | 'unknown_refund',
): FastifyReply {
  return sendPage(request, reply, renderProblemPage({ kind }, localeOf(request), assets));
}

/** Parameters that a visitor's links preserve; see `pageHref`. */
const CARRIED = ['choose', 'lang', 'embed', 'refresh'] as const;

/** The requested page, or the page of the requested action, with the visitor's choices. */
function retryHref(request: Request): string {
  const path = pathOf(request).replace(/\/(?:token|cancel|simulate|)$|(?<=^\/request\/[^/]*)\/pay$/, '');
  const query = new URLSearchParams();
  for (const name of CARRIED) {
    const value = request.query[name];
    if (typeof value === 'string') query.set(name, value);
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** Customers read pages, not JSON, so errors are sent as a page. */
function answerFaultsAsPages(app: FastifyInstance, { assets, problems }: Checkout): void {
  app.setErrorHandler((error, request: Request, reply) => {
    const requestError = asRequestError(error);
    if (requestError.type === 'https_required') throw requestError;
    const locale = localeOf(request);
    const send = (view: Parameters<typeof renderProblemPage>[0], status?: number) => {
      const rendered = renderProblemPage(view, locale, assets);
      return sendPage(request, reply, status === undefined ? rendered : { ...rendered, status });
    };
    const retryPath = retryHref(request);
    if (requestError.type === 'rate_limit_error') {
      const retryAfterSeconds = Number(reply.getHeader('retry-after') ?? 60);
      return send({ kind: 'too_many_requests', retryAfterSeconds, retryPath });
    }
    if (requestError.status >= 500) reportFault(problems, request, requestError.status, error);
    return requestError.status < 500
      ? send({ kind: retryPath.startsWith('/request/') ? 'unknown_request' : 'unknown_payment' }, requestError.status)
      : send({ kind: 'fault', retryPath });
  });
}
