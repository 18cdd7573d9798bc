import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cancelPayment, selectToken } from '../../app/payment-actions.ts';
import { claimRefund } from '../../app/refunds.ts';
import { decodeId, parseUuid } from '../../domain/id.ts';
import type { Payment, Surface } from '../../domain/payment.ts';
import type { Refund } from '../../domain/refund.ts';
import type { RefusalReason } from '../../domain/transition.ts';
import { findProject } from '../../store/projects.ts';
import { findRefund } from '../../store/refunds.ts';
import type { Api } from '../api.ts';
import { asRequestError } from '../errors.ts';
import { CHECKOUT_HEADERS } from './layout.ts';
import { renderPaymentPage } from './page.ts';
import { presentPaymentPage } from './present.ts';
import { renderProblemPage } from './problem-page.ts';
import { renderRefundPage } from './refund-page.ts';
import { CHECKOUT_CSS, CHECKOUT_CSS_PATH } from './style.ts';
import type { Notice, Page, RefundStep } from './view.ts';

const page = { config: { guard: { kind: 'page' } }, schema: { hide: true } } as const;
const asset = { config: { guard: { kind: 'open' } }, schema: { hide: true } } as const;

interface PaymentRequest {
  readonly Params: { readonly id: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
  readonly Body: Readonly<Record<string, unknown>> | undefined;
}

/** The hosted pages: paying a transaction or an order, and claiming a refund. They need no JavaScript and no session. */
export function checkoutRoutes(api: Api): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    await app.register(formbody, { bodyLimit: 8_192 });
    answerFaultsAsPages(app);
    app.get(CHECKOUT_CSS_PATH, asset, (_request, reply) =>
      reply
        .header('content-type', 'text/css; charset=utf-8')
        .header('cache-control', 'public, max-age=31536000, immutable')
        .send(CHECKOUT_CSS),
    );
    paymentRoutes(app, api);
    refundRoutes(app, api);
  };
}

function paymentRoutes(app: FastifyInstance, api: Api): void {
  app.get<PaymentRequest>('/pay/:id', page, async (request, reply) => {
    const payment = await findByPublicId(api, request.params.id);
    return payment === null ? unknownPayment(reply) : showPayment(api, request, reply, payment, null);
  });
  app.post<PaymentRequest>('/pay/:id/token', page, async (request, reply) => {
    const payment = await findByPublicId(api, request.params.id);
    if (payment === null) return unknownPayment(reply);
    const wanted = { asset: field(request, 'asset'), network: field(request, 'network') || null };
    // An order's token is the merchant's choice.
    if (payment.surface === 'order') return showPayment(api, request, reply, payment, 'not_open');
    const outcome = await selectToken(api.app, { id: payment.id }, wanted);
    if (outcome.kind === 'changed') return backToPage(reply, request.params.id);
    return showPayment(api, request, reply, await findAgain(api, payment), noticeOf(outcome));
  });
  app.post<PaymentRequest>('/pay/:id/cancel', page, async (request, reply) => {
    const payment = await findByPublicId(api, request.params.id);
    if (payment === null) return unknownPayment(reply);
    const outcome = await cancelPayment(api.app, { id: payment.id });
    if (outcome.kind === 'changed') return backToPage(reply, request.params.id);
    return showPayment(api, request, reply, await findAgain(api, payment), noticeOf(outcome));
  });
}

async function showPayment(
  api: Api,
  request: FastifyRequest<PaymentRequest>,
  reply: FastifyReply,
  payment: Payment,
  notice: Notice | null,
): Promise<FastifyReply> {
  const { app } = api;
  const rail = app.railFor(payment.mode);
  const open = payment.status === 'created' || payment.status === 'prepared' || payment.status === 'pending';
  const offersTokens = open && payment.surface === 'transaction';
  const [project, tokens, confirmations] = await Promise.all([
    findProject(app.db, payment.projectId),
    offersTokens ? rail.tokens(payment.projectId) : [],
    payment.status === 'confirming' ? rail.confirmations(payment) : null,
  ]);
  const view = presentPaymentPage(payment, {
    now: app.clock(),
    projectName: project?.name ?? '',
    tokens: tokens.map((token) => ({ asset: token.asset, network: token.network })),
    confirmations,
    evm: payment.quote === null ? null : rail.evmChain(payment.quote),
    wantsOtherToken: request.query['choose'] === 'token',
    autoRefresh: request.query['refresh'] !== 'off',
    notice,
  });
  return sendPage(reply, renderPaymentPage(view));
}

/** Why an action was refused, in the page's words. */
function noticeOf(outcome: Exclude<Awaited<ReturnType<typeof selectToken>>, { readonly kind: 'changed' }>): Notice {
  switch (outcome.kind) {
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

function noticeOfReason(reason: RefusalReason): Notice {
  return reason === 'money_seen' || reason === 'expired' ? reason : 'not_open';
}

function refundRoutes(app: FastifyInstance, api: Api): void {
  app.get<PaymentRequest>('/refund/:id', page, async (request, reply) => {
    const refund = await findPublicRefund(api, request.params.id);
    return refund === null ? unknownRefund(reply) : showRefund(api, reply, refund, request.params.id, '', null);
  });
  app.post<PaymentRequest>('/refund/:id', page, async (request, reply) => {
    const refund = await findPublicRefund(api, request.params.id);
    if (refund === null) return unknownRefund(reply);
    const typed = field(request, 'address').slice(0, 200);
    const outcome = await claimRefund(api.app, refund.id, typed);
    if (outcome.kind === 'done') return reply.code(303).header('location', `/refund/${request.params.id}`).send();
    const problem = outcome.kind === 'refused' ? outcome.message.replace(/^address: /, '') : 'Try again.';
    const now = (await findPublicRefund(api, request.params.id)) ?? refund;
    return showRefund(api, reply, now, request.params.id, typed, problem);
  });
}

async function showRefund(
  api: Api,
  reply: FastifyReply,
  refund: Refund,
  publicId: string,
  typed: string,
  problem: string | null,
): Promise<FastifyReply> {
  const project = await findProject(api.app.db, refund.projectId);
  const { mode, amountMinor, currency, asset, network, decimals, units } = refund;
  return sendPage(
    reply,
    renderRefundPage({
      claimPath: `/refund/${publicId}`,
      mode,
      projectName: project?.name ?? '',
      amountMinor,
      currency,
      asset,
      network,
      decimals,
      units,
      now: api.app.clock(),
      step: stepOfRefund(refund, typed, problem),
    }),
  );
}

function stepOfRefund(refund: Refund, typed: string, problem: string | null): RefundStep {
  const { status, address, transactionHash, completedAt } = refund;
  if (status === 'failed') return { kind: 'failed' };
  // A refund may be settled before anybody said where to: the sandbox waits for no address.
  if (status === 'completed')
    return { kind: 'completed', address: address ?? '', transactionHash, completedAt: completedAt ?? 0 };
  return address === null ? { kind: 'form', typed, problem } : { kind: 'waiting', address };
}

/** A page's link names a payment of either surface and mode; whoever has it may see the page. */
async function findByPublicId(api: Api, text: string): Promise<Payment | null> {
  const order = decodeId('order', text);
  const surface: Surface = order === null ? 'transaction' : 'order';
  const id = order ?? parseUuid(text);
  return id === null ? null : api.reader.read({ id, surface });
}

async function findAgain(api: Api, payment: Payment): Promise<Payment> {
  return (await api.reader.read({ id: payment.id })) ?? payment;
}

async function findPublicRefund(api: Api, text: string): Promise<Refund | null> {
  const id = decodeId('refund', text);
  return id === null ? null : findRefund(api.app.db, id);
}

function field(request: FastifyRequest<PaymentRequest>, name: string): string {
  const value = request.body?.[name];
  return typeof value === 'string' ? value : '';
}

function backToPage(reply: FastifyReply, publicId: string): FastifyReply {
  return reply.code(303).header('location', `/pay/${publicId}`).send();
}

function unknownPayment(reply: FastifyReply): FastifyReply {
  return sendPage(reply, renderProblemPage({ kind: 'unknown_payment' }));
}

function unknownRefund(reply: FastifyReply): FastifyReply {
  return sendPage(reply, renderProblemPage({ kind: 'unknown_refund' }));
}

function sendPage(reply: FastifyReply, { status, html }: Page): FastifyReply {
  return reply.code(status).headers(CHECKOUT_HEADERS).header('content-type', 'text/html; charset=utf-8').send(html);
}

/** A customer reads pages, not JSON: what goes wrong here is told as one. */
function answerFaultsAsPages(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    const told = asRequestError(error);
    if (told.type === 'https_required') throw told;
    const retryPath = (request.url.split('?')[0] ?? '/').replace(/\/(?:token|cancel)$/, '');
    if (told.type === 'rate_limit_error') {
      const retryAfterSeconds = Number(reply.getHeader('retry-after') ?? 60);
      return sendPage(reply, renderProblemPage({ kind: 'too_many_requests', retryAfterSeconds, retryPath }));
    }
    if (told.status >= 500) request.log.error({ err: error, request: request.id }, 'a page failed');
    if (told.status < 500)
      return sendPage(reply, { ...renderProblemPage({ kind: 'unknown_payment' }), status: told.status });
    return sendPage(reply, renderProblemPage({ kind: 'trouble', retryPath }));
  });
}
