import { NO_REQUEST_SUMS, type PaymentRequest, type RequestSums } from '../../../domain/payment-request.ts';
import type { Payment } from '../../../domain/payment.ts';
import { BTC_PAID, FRAME, NOW, paymentOf } from '../examples.fixture.ts';
import { presentRequest, type RequestFacts, type Sent } from './present.ts';
import type { RequestView, Typed } from './view.ts';

/** Payment requests in every state of their page, for tests. */
const MINUTE = 60_000;
export const REQUEST_URL = 'https://pay.example/request/req_01jcnm00000000000000000001';

export const REQUEST: PaymentRequest = {
  id: '01935a3c-0000-7000-8000-000000000001',
  projectId: '01935a3c-0000-7000-8000-00000000000a',
  mode: 'live',
  status: 'open',
  title: 'Deposit for the wedding cake',
  description: 'Three tiers, lemon and almond.',
  reference: 'CAKE-17',
  amountMinor: 25_000n,
  minAmountMinor: null,
  maxAmountMinor: null,
  currency: 'EUR',
  maxPayments: 1,
  coins: null,
  successUrl: 'https://shop.example/thanks',
  askEmail: false,
  askName: false,
  askNote: false,
  metadata: { shelf: 'metadata-value' },
  createdAt: NOW - 60 * MINUTE,
  expiresAt: NOW + 30 * 24 * 60 * MINUTE,
  endedAt: null,
  toldMinor: 0n,
  toldPayments: 0,
  lastSequence: 0,
};

interface Changes {
  readonly request?: Partial<PaymentRequest>;
  readonly sums?: Partial<RequestSums>;
  readonly facts?: Partial<Omit<RequestFacts, 'request' | 'sums'>>;
  readonly sent?: Sent;
}

/** The view of a request that differs from a new one of live mode. */
export function requestViewOf({ request, sums, facts, sent }: Changes = {}): RequestView {
  const known: RequestFacts = {
    request: { ...REQUEST, ...request },
    sums: { ...NO_REQUEST_SUMS, ...sums },
    living: null,
    own: null,
    taken: null,
    document: null,
    isActive: true,
    now: NOW,
    ...facts,
  };
  return presentRequest(known, FRAME, REQUEST_URL, sent);
}

export const invoiceOf = (changes: Partial<Payment> = {}): Payment =>
  paymentOf({ api: 'invoice', transactionNumber: null, paymentRequestId: REQUEST.id, ...changes });

const TYPED: Typed = { amount: '3,50', email: 'ann@example', name: ' ', note: 'Blue ribbon' };
const ASKED = { askEmail: true, askName: true, askNote: true };
const BETWEEN = { amountMinor: null, minAmountMinor: 500n, maxAmountMinor: 100_000n, maxPayments: null };
const OWN = invoiceOf({ amountMinor: 1_500n, currency: 'EUR' });

/** One view of each kind of state. */
export const REQUEST_STATES: ReadonlyMap<string, RequestView> = new Map([
  ['open', requestViewOf()],
  ['open, test', requestViewOf({ request: { mode: 'test', expiresAt: null, reference: null } })],
  ['open, in parts', requestViewOf({ sums: { paidMinor: 10_000n, pendingMinor: 2_500n } })],
  ['open, asked', requestViewOf({ request: ASKED })],
  ['open, typed', requestViewOf({ request: { ...BETWEEN, ...ASKED } })],
  ['open, typed, without bounds', requestViewOf({ request: { amountMinor: null } })],
  [
    'open, typed, refused',
    requestViewOf({
      request: { ...BETWEEN, ...ASKED },
      sent: { typed: TYPED, problems: { amount: 'too_little', email: 'invalid', name: 'invalid' }, notice: null },
    }),
  ],
  [
    'open, typed, too much and too long',
    requestViewOf({
      request: { ...BETWEEN, ...ASKED },
      sent: { typed: TYPED, problems: { amount: 'too_much', note: 'too_long' }, notice: null },
    }),
  ],
  [
    'open, no amount',
    requestViewOf({ request: BETWEEN, sent: { typed: TYPED, problems: { amount: 'invalid' }, notice: null } }),
  ],
  ['no rate', requestViewOf({ sent: { typed: TYPED, problems: {}, notice: 'no_rate' } })],
  ['changed', requestViewOf({ request: ASKED, sent: { typed: TYPED, problems: {}, notice: 'changed' } })],
  ['paying, shared', requestViewOf({ facts: { living: OWN } })],
  ['paying, own', requestViewOf({ request: BETWEEN, facts: { living: OWN, own: OWN } })],
  [
    'confirming',
    requestViewOf({
      sums: { pendingMinor: 25_000n },
      facts: { living: invoiceOf({ status: 'confirming', ...BTC_PAID }) },
    }),
  ],
  ['confirming, of an invoice that ended', requestViewOf({ sums: { pendingMinor: 25_000n } })],
  ['taken', requestViewOf({ request: { maxPayments: 3 }, facts: { taken: { until: NOW + 12 * MINUTE } } })],
  ['taken, nobody knows until when', requestViewOf({ request: BETWEEN, facts: { taken: { until: null } } })],
  ['invoice', requestViewOf({ facts: { document: { dueOn: '2026-02-14' } } })],
  [
    'invoice, paid',
    requestViewOf({
      request: { status: 'paid' },
      sums: { paidMinor: 25_000n, payments: 1 },
      facts: { document: { dueOn: '2026-02-14' } },
    }),
  ],
  ['paid', requestViewOf({ request: { status: 'paid' }, sums: { paidMinor: 25_000n, payments: 1 } })],
  [
    'paid, by this visitor, no shop',
    requestViewOf({
      request: { successUrl: null },
      sums: { paidMinor: 25_000n, payments: 1 },
      facts: { own: invoiceOf({ status: 'completed', ...BTC_PAID, completedAt: NOW }) },
    }),
  ],
  ['closed', requestViewOf({ request: { status: 'closed', endedAt: NOW }, sums: { paidMinor: 10_000n } })],
  ['expired', requestViewOf({ request: { expiresAt: NOW - MINUTE } })],
  ['inactive', requestViewOf({ facts: { isActive: false } })],
]);
