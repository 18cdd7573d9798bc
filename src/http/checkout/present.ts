import { encodeId } from '../../domain/id.ts';
import { PAYMENT_KINDS, publicPaymentId } from '../../domain/payment-kind.ts';
import { isCounting, isFinal, isOpen } from '../../domain/status.ts';
import { payableRest } from '../../domain/asset.ts';
import { inTimeUntil, requiredUnits, type Payment, type Quote } from '../../domain/payment.ts';
import { nativeAsset } from '../../domain/networks.ts';
import { possibleSimulations } from '../../domain/simulation.ts';
import { evmTransfer, paymentUri, type EvmChain, URI_SCHEMES } from '../../domain/payment-uri.ts';
import type {
  ClosedStep,
  Confirmations,
  Frame,
  Notice,
  PaidFacts,
  PaymentView,
  PayStep,
  QuoteView,
  RefundNews,
  Step,
  TestProgress,
  TokenChoice,
  WrongMoney,
} from './view.ts';

/** The facts beside the payment that the page needs, the same for every visitor. */
export interface PageFacts {
  /** The confirmations of the deciding transfer; null while unknown. */
  readonly confirmations: Confirmations | null;
  readonly refunds: readonly RefundNews[];
  readonly wrongMoney: readonly WrongMoney[];
  /** Whether the shop takes payments; a deactivated project's open payments must not be paid. */
  readonly isActive: boolean;
  /**
   * Whether everybody with the link of its payment request is led to this page. Then it cannot cancel, and leads to no
   * refund: what is given back is not for whoever comes first.
   */
  readonly isShared: boolean;
}

export interface PageContext extends PageFacts {
  readonly now: number;
  /** When the page was read, if that is earlier because the database does not answer; otherwise null. */
  readonly readAt: number | null;
  readonly frame: Frame;
  /** The tokens in which the payment can be paid now, in the order of the page; empty if no wallet is set. */
  readonly tokens: readonly TokenChoice[];
  /** The chain of the quote's network; null if it is not an EVM network. */
  readonly evm: EvmChain | null;
  /** The origin of the block explorer for the quote's token; null if there is none. */
  readonly explorer: string | null;
  /** The time for which a payment's addresses stay watched after its end. */
  readonly monitoringMs: number;
  /** Whether money may be sent to the address: the sandbox's addresses are made up. */
  readonly payable: boolean;
  /** The customer asked to see the tokens again (`?choose=token`). */
  readonly wantsOtherToken: boolean;
  readonly notice: Notice | null;
  /** Whether the shop lets the page return to it automatically. */
  readonly returnsToShop: boolean;
}

/** A text of one line that changes exactly when the page would look different, apart from the time and the visitor. */
export function pageVersion(
  payment: Payment,
  { confirmations, refunds, wrongMoney, isActive }: PageFacts,
  now: number,
): string {
  const { status, exception, failureReason, quote, received, completesAt } = payment;
  const { all, inTime } = received;
  const until = inTimeUntil(payment);
  const is = `${status} ${exception} ${failureReason ?? ''} ${isOpen(status) && now >= until} ${until} ${completesAt ?? ''}`;
  // The end of the address distinguishes two of them; a page that no longer asks for money must not show one.
  const owed = quote === null ? '' : `${quote.owedUnits} ${quote.asset} ${quote.network} ${quote.address.slice(-8)}`;
  const paid = `${all.seenUnits} ${inTime.seenUnits} ${received.transactionHash ?? ''} ${payment.transactionHash ?? ''}`;
  const depth = confirmations === null ? '' : `${confirmations.have}/${confirmations.need}`;
  const returned = refunds.map(({ path, state }) => `${path} ${state}`).join(' ');
  const wrong = wrongMoney.map(({ units, asset, network }) => `${units} ${asset} ${network}`).join(' ');
  return [is, owed, paid, depth, returned, wrong, ...(isActive ? [] : ['inactive'])].join('|');
}

/** The payment page's view of a payment. Leaves out the customer's name and e-mail, and the merchant's metadata. */
export function presentPaymentPage(payment: Payment, context: PageContext): PaymentView {
  return {
    paymentId: publicPaymentId(payment),
    version: pageVersion(payment, context, context.now),
    frame: context.frame,
    test: payment.mode === 'test' ? testProgress(payment) : null,
    description: payment.description,
    transactionNumber: payment.transactionNumber,
    merchantOrderId: payment.merchantOrderId,
    amountMinor: payment.amountMinor,
    currency: payment.currency,
    successUrl: payment.successUrl,
    cancelUrl: payment.cancelUrl,
    returnsToShop: context.returnsToShop,
    requestPath: payment.paymentRequestId && requestPath(encodeId('request', payment.paymentRequestId)),
    payUntilAt: inTimeUntil(payment),
    watchedUntilAt: payment.expiresAt + context.monitoringMs,
    now: context.now,
    readAt: context.readAt,
    step: stepOf(payment, context),
    refunds: context.refunds,
    wrongMoney: context.wrongMoney,
    notice: context.notice,
  };
}

function testProgress(payment: Payment): TestProgress {
  const { status, completesAt } = payment;
  if (isFinal(status)) return { kind: 'ended', simulations: [] };
  const simulations = possibleSimulations(payment, false);
  if (isCounting(status)) {
    return completesAt === null ? { kind: 'by_hand', simulations } : { kind: 'walks', at: completesAt, simulations };
  }
  const endsAt = inTimeUntil(payment);
  return completesAt !== null && completesAt < endsAt
    ? { kind: 'completes', at: completesAt, simulations }
    : { kind: 'expires', at: endsAt, simulations };
}

function stepOf(payment: Payment, context: PageContext): Step {
  switch (payment.status) {
    case 'created':
    case 'prepared':
    case 'pending':
      return openStep(payment, context);
    case 'processing':
      return { kind: 'detected', ...paidFacts(payment, context) };
    case 'confirming':
      return { kind: 'confirming', confirmations: context.confirmations, ...paidFacts(payment, context) };
    case 'completed':
      return {
        kind: 'completed',
        completedAt: payment.completedAt ?? context.now,
        exception: payment.exception,
        wasCancelled: payment.cancelledAt !== null,
        quote: payment.quote && quoteView(payment.quote, context),
        receivedUnits: payment.received.all.seenUnits,
        transactionHash: payment.transactionHash,
      };
    case 'failed':
      return closedStep(payment, payment.failureReason ?? 'unconfirmed', context);
    case 'expired':
    case 'cancelled':
      return closedStep(payment, payment.status, context);
  }
}

function openStep(payment: Payment, context: PageContext): Step {
  const untouched = payment.received.all.seenUnits === 0n;
  const canCancel = untouched && !context.isShared;
  if (context.now >= inTimeUntil(payment)) return { kind: 'checking' };
  if (!context.isActive) return { kind: 'unavailable', why: 'inactive', canCancel };
  const { quote } = payment;
  const mayChoose = PAYMENT_KINDS[payment.api].choosesToken && untouched;
  if (quote !== null && !(mayChoose && context.wantsOtherToken && context.tokens.length > 0)) {
    return payStep(payment, quote, context, mayChoose && context.tokens.length > 1);
  }
  if (context.tokens.length === 0) return { kind: 'unavailable', why: 'no_wallet', canCancel };
  return { kind: 'choose', tokens: context.tokens, current: quote, canCancel };
}

function payStep(payment: Payment, quote: Quote, context: PageContext, canChangeToken: boolean): PayStep {
  const receivedUnits = payment.received.inTime.seenUnits;
  const missingUnits = payableRest(quote, quote.owedUnits - receivedUnits);
  const { asset, network, decimals, address } = quote;
  const request = { asset, network, decimals, units: missingUnits, address, evm: context.evm };
  const uri = context.payable ? paymentUri(request) : null;
  const namesContract = asset !== nativeAsset(network);
  return {
    kind: 'pay',
    quote: quoteView(quote, context),
    receivedUnits,
    missingUnits,
    paymentUri: namesContract ? null : uri,
    tokenUri: namesContract ? uri : null,
    transfer: context.payable ? evmTransfer(request) : null,
    canChangeToken,
    canCancel: payment.received.all.seenUnits === 0n && !context.isShared,
  };
}

function closedStep(payment: Payment, outcome: ClosedStep['outcome'], context: PageContext): ClosedStep {
  const { quote, received } = payment;
  return {
    kind: 'closed',
    outcome,
    endedAt: payment.cancelledAt ?? inTimeUntil(payment),
    paidLate: quote !== null && payment.exception === 'paid_late' && received.all.seenUnits >= requiredUnits(quote),
    quote: quote && quoteView(quote, context),
    receivedUnits: received.all.seenUnits,
    transactionHash: received.transactionHash,
  };
}

function paidFacts(payment: Payment, context: PageContext): PaidFacts {
  if (payment.quote === null) throw new Error(`Payment ${payment.id} is ${payment.status} without a quote.`);
  return {
    quote: quoteView(payment.quote, context),
    receivedUnits: payment.received.all.seenUnits,
    transactionHash: payment.received.transactionHash,
  };
}

function quoteView(
  { asset, network, decimals, owedUnits, address }: Quote,
  { explorer }: Pick<PageContext, 'explorer'>,
): QuoteView {
  return { asset, network, decimals, owedUnits, address, explorer };
}

const WALLET_SCHEMES: ReadonlySet<string> = new Set(URI_SCHEMES.map((scheme) => `${scheme}:`));

/**
 * The link back to the shop: the merchant's URL with `payment_id` appended to its query. Null for anything but an
 * absolute http or https URL, so that `javascript:` and the like never become a link. The rest of the query is
 * unchanged, because shops may sign it.
 */
export function shopHref(url: string | null, paymentId: string): string | null {
  const parsed = webUrl(url);
  if (parsed === null) return null;
  const parameter = `payment_id=${encodeURIComponent(paymentId)}`;
  parsed.search = parsed.search === '' ? `?${parameter}` : `${parsed.search}&${parameter}`;
  return parsed.href;
}

/** A merchant's URL; null for anything but an absolute http or https URL. */
export function webUrl(url: string | null): URL | null {
  const parsed = url === null ? null : URL.parse(url);
  return parsed?.protocol === 'https:' || parsed?.protocol === 'http:' ? parsed : null;
}

/** A payment URI as a link; null if its scheme is not one of ours. */
export function walletHref(uri: string | null): string | null {
  const parsed = uri === null ? null : URL.parse(uri);
  return parsed && WALLET_SCHEMES.has(parsed.protocol) ? uri : null;
}

/** The choices that a visitor's links must preserve: the language, the frame around the page, and no reloading. */
type Carried = Pick<Frame, 'locale' | 'languageGiven' | 'embed' | 'autoRefresh'>;

/** A path of these pages with the visitor's choices, and `extra` parameters. */
export function pageHref(frame: Carried, path: string, extra: Readonly<Record<string, string>> = {}): string {
  let query = '';
  const add = (name: string, value: string): void => {
    query += `${query === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  };
  for (const name of Object.keys(extra)) add(name, extra[name] ?? '');
  if (frame.languageGiven && extra['lang'] === undefined) add('lang', frame.locale.code);
  if (frame.embed !== null) add('embed', frame.embed);
  if (!frame.autoRefresh && extra['refresh'] === undefined) add('refresh', 'off');
  return path + query;
}

/** The page of a payment, or an action below it. */
export function paymentPath(paymentId: string, action?: 'token' | 'cancel' | 'simulate' | 'events'): string {
  const page = `/pay/${encodeURIComponent(paymentId)}`;
  return action === undefined ? page : `${page}/${action}`;
}

/** The page of a payment request, or its form's address. */
export function requestPath(requestId: string, action?: 'pay'): string {
  const page = `/request/${encodeURIComponent(requestId)}`;
  return action === undefined ? page : `${page}/${action}`;
}
