import { allTokens } from '../../domain/asset.ts';
import { cheapFirst } from '../../domain/coin-choice.ts';
import { blankPayment, type Received, type Payment, type Quote } from '../../domain/payment.ts';
import { ENGLISH } from './language/locale.ts';
import { presentPaymentPage, type PageContext } from './present.ts';
import type { Frame, PaymentView, RefundStep, RefundView } from './view.ts';

/** Payments and refunds in every state of the page, for tests. */
export const NOW = Date.UTC(2025, 10, 21, 13, 41, 30);

const MINUTE = 60_000;

export const HASH = '5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060';

export const BTC_QUOTE: Quote = {
  asset: 'BTC',
  network: 'bitcoin',
  decimals: 8,
  owedUnits: 81_667n,
  toleranceUnits: 400n,
  address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
};

export const USDT_QUOTE: Quote = {
  asset: 'USDT',
  network: 'polygon',
  decimals: 6,
  owedUnits: 49_000_001n,
  toleranceUnits: 0n,
  address: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F',
};

const CREATED = blankPayment({
  id: '01935a3c-0000-7000-8000-000000000001',
  projectId: '01935a3c-0000-7000-8000-00000000000a',
  mode: 'live',
  api: 'transaction',
  transactionNumber: 'TXN-2025-000123',
  amountMinor: 4_900n,
  currency: 'USD',
  amountUsdCents: 4_900n,
  merchantOrderId: 'NW-10442',
  description: 'Assam second flush',
  customerEmail: 'ada@customer.example',
  customerName: 'Ada Customer',
  successUrl: 'https://shop.example/thanks?cart=9',
  cancelUrl: 'https://shop.example/cart',
  metadata: { colour: 'metadata-value' },
  createdAt: NOW - MINUTE,
  expiresAt: NOW + 23 * MINUTE,
  lastSequence: 1,
});

export const ASSETS = { stylePath: '/assets/page.css', scriptPath: '/assets/page.js' } as const;

export const FRAME: Frame = {
  locale: ENGLISH,
  languageGiven: false,
  branding: {
    projectName: 'Northwind Tea',
    logo: null,
    accentPath: null,
    supportUrl: null,
    iconPath: null,
    pageText: null,
    termsUrl: null,
    imprintUrl: null,
  },
  embed: null,
  autoRefresh: true,
  watching: false,
};

const CONTEXT: PageContext = {
  now: NOW,
  frame: FRAME,
  tokens: cheapFirst(allTokens()),
  confirmations: null,
  refunds: [],
  wrongMoney: [],
  isActive: true,
  isShared: false,
  evm: null,
  explorer: null,
  monitoringMs: 7 * 24 * 60 * MINUTE,
  readAt: null,
  payable: true,
  wantsOtherToken: false,
  notice: null,
  returnsToShop: true,
};

/** A payment that differs from a new live transaction in `changes`. */
export function paymentOf(changes: Partial<Payment>): Payment {
  return { ...CREATED, ...changes };
}

/** The view of a payment that differs from a new live transaction in `changes`. */
export function viewOf(changes: Partial<Payment> = {}, context: Partial<PageContext> = {}): PaymentView {
  return presentPaymentPage(paymentOf(changes), { ...CONTEXT, ...context });
}

/** Money that is seen, in a block and confirmed alike. */
export function money(units: bigint, inTimeUnits = units): Received {
  const sums = (of: bigint) => ({ seenUnits: of, minedUnits: of, confirmedUnits: of });
  return { all: sums(units), inTime: sums(inTimeUnits), transactionHash: HASH };
}

export const BTC_PAID = { quote: BTC_QUOTE, received: money(BTC_QUOTE.owedUnits) };

const OF_REQUEST = {
  api: 'invoice',
  transactionNumber: null,
  paymentRequestId: '01935a3c-0000-7000-8000-000000000001',
  cancelUrl: null,
} as const;

/** One view of each kind of state. */
export const STATES: ReadonlyMap<string, PaymentView> = new Map([
  ['choose', viewOf()],
  ['choose another', viewOf({ status: 'pending', quote: BTC_QUOTE }, { wantsOtherToken: true })],
  ['unavailable', viewOf({}, { tokens: [] })],
  ['pay', viewOf({ status: 'pending', quote: BTC_QUOTE })],
  ['pay, token', viewOf({ status: 'pending', quote: USDT_QUOTE })],
  [
    'pay, token with a link',
    viewOf(
      { status: 'pending', quote: USDT_QUOTE },
      { evm: { chainId: 137, contract: '0xc2132D05D31c914a87C6611C10748AEb04B58e8F' } },
    ),
  ],
  [
    'pay, test',
    viewOf(
      { status: 'pending', quote: USDT_QUOTE, mode: 'test', completesAt: NOW + MINUTE, merchantOrderId: null },
      { payable: false },
    ),
  ],
  [
    'pay, money in another token',
    viewOf(
      { status: 'pending', quote: USDT_QUOTE },
      { wrongMoney: [{ asset: 'USDC', network: 'polygon', units: 30_500_000n, decimals: 6 }] },
    ),
  ],
  [
    'expired, money in another token',
    viewOf(
      { status: 'expired', quote: USDT_QUOTE },
      { wrongMoney: [{ asset: 'ETH', network: 'ethereum', units: 12_340_000_000_000_000n, decimals: 18 }] },
    ),
  ],
  ['pay, refused', viewOf({ status: 'pending', quote: BTC_QUOTE }, { notice: 'money_seen' })],
  ['partly paid', viewOf({ status: 'pending', quote: BTC_QUOTE, exception: 'underpaid', received: money(30_000n) })],
  ['checking', viewOf({ status: 'pending', quote: BTC_QUOTE, expiresAt: NOW })],
  ['detected', viewOf({ status: 'processing', ...BTC_PAID })],
  ['confirming', viewOf({ status: 'confirming', ...BTC_PAID }, { confirmations: { have: 3, need: 12 } })],
  ['completed', viewOf({ status: 'completed', ...BTC_PAID, transactionHash: HASH, completedAt: NOW })],
  [
    'overpaid',
    viewOf({
      status: 'completed',
      quote: BTC_QUOTE,
      received: money(91_667n),
      exception: 'overpaid',
      completedAt: NOW,
    }),
  ],
  ['expired', viewOf({ status: 'expired', quote: BTC_QUOTE })],
  [
    'paid late',
    viewOf({ status: 'expired', quote: BTC_QUOTE, exception: 'paid_late', received: money(BTC_QUOTE.owedUnits, 0n) }),
  ],
  [
    'expired, partly paid late',
    viewOf({
      status: 'expired',
      api: 'order',
      transactionNumber: null,
      quote: BTC_QUOTE,
      received: money(30_000n, 0n),
    }),
  ],
  ['expired, of a request', viewOf({ status: 'expired', quote: BTC_QUOTE, ...OF_REQUEST })],
  ['completed, of a request', viewOf({ status: 'completed', ...BTC_PAID, completedAt: NOW, ...OF_REQUEST })],
  ['cancelled', viewOf({ status: 'cancelled', cancelledAt: NOW })],
  ['cancelled after choosing', viewOf({ status: 'cancelled', quote: BTC_QUOTE, cancelledAt: NOW })],
  [
    'cancelled, paid late',
    viewOf({
      status: 'cancelled',
      quote: BTC_QUOTE,
      cancelledAt: NOW,
      exception: 'paid_late',
      received: money(BTC_QUOTE.owedUnits, 0n),
    }),
  ],
  [
    'cancelled, paid late, accepted',
    viewOf({
      status: 'completed',
      quote: BTC_QUOTE,
      cancelledAt: NOW,
      completedAt: NOW,
      exception: 'paid_late',
      received: money(BTC_QUOTE.owedUnits, 0n),
      transactionHash: HASH,
    }),
  ],
  [
    'completed, with an explorer',
    viewOf(
      { status: 'completed', ...BTC_PAID, transactionHash: HASH, completedAt: NOW },
      { explorer: 'https://mempool.space' },
    ),
  ],
  ['stale', viewOf({ status: 'pending', quote: BTC_QUOTE }, { readAt: NOW - 12_000 })],
  [
    'underpaid',
    viewOf({
      status: 'failed',
      failureReason: 'underpaid',
      exception: 'underpaid',
      quote: BTC_QUOTE,
      received: money(30_000n),
    }),
  ],
  ['unconfirmed', viewOf({ status: 'failed', failureReason: 'unconfirmed', ...BTC_PAID })],
  [
    'refund offered',
    viewOf(
      {
        status: 'failed',
        failureReason: 'underpaid',
        exception: 'underpaid',
        quote: BTC_QUOTE,
        received: money(30_000n),
      },
      {
        refunds: [
          { path: '/refund/re_1', state: 'offered', units: 30_000n, decimals: 8, asset: 'BTC', network: 'bitcoin' },
        ],
      },
    ),
  ],
  [
    'pay, in the frame of a shop',
    viewOf({ status: 'pending', quote: BTC_QUOTE }, { frame: { ...FRAME, embed: 'https://frame.example' } }),
  ],
  [
    'confirming, test',
    viewOf({ status: 'confirming', ...BTC_PAID, mode: 'test', completesAt: NOW + 3_000 }, { payable: false }),
  ],
  [
    'underpaid, accepted',
    viewOf({
      status: 'completed',
      quote: BTC_QUOTE,
      received: money(80_000n),
      exception: 'underpaid',
      completedAt: NOW,
      transactionHash: HASH,
    }),
  ],
  [
    'completed, reorged',
    viewOf({ status: 'completed', ...BTC_PAID, exception: 'reorged', transactionHash: HASH, completedAt: NOW }),
  ],
  [
    'refunds on their way',
    viewOf(
      { status: 'completed', ...BTC_PAID, transactionHash: HASH, completedAt: NOW },
      {
        refunds: [
          { path: '/refund/re_1', state: 'sending', units: 30_000n, decimals: 8, asset: 'BTC', network: 'bitcoin' },
          { path: '/refund/re_2', state: 'sent', units: 51_667n, decimals: 8, asset: 'BTC', network: 'bitcoin' },
        ],
      },
    ),
  ],
]);

/** A refund of the token payment at one of the claim page's steps. */
export function refundOf(step: RefundStep, changes: Partial<RefundView> = {}): RefundView {
  return {
    frame: FRAME,
    merchantOrderId: 'HC-31054',
    paymentName: 'TXN-2025-000123',
    claimPath: '/refunds/re_1/claim',
    explorer: 'https://polygonscan.com',
    mode: 'live',
    amountMinor: 4_900n,
    currency: 'USD',
    asset: 'USDT',
    network: 'polygon',
    decimals: 6,
    units: 49_000_001n,
    now: NOW,
    step,
    ...changes,
  };
}
