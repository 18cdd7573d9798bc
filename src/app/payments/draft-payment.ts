import { PAYMENT_KINDS, publicPaymentId } from '../../domain/payment-kind.ts';
import { filledReturnUrl } from '../../domain/return-url.ts';
import { blankPayment, type MerchantFields, type Payment } from '../../domain/payment.ts';
import { formatTransactionNumber } from '../../domain/transaction-number.ts';
import { withFirstToken } from '../../domain/creation.ts';
import type { Issuer, Rail } from '../../modes/rail.ts';
import { takeTransactionNumbers } from '../../store/payments/payments.ts';
import type { StatementRunner } from '../../store/pipeline.ts';
import type { IssuedAddress } from '../../store/payments/save-changes.ts';
import type { Actor, App } from '../context.ts';
import type { IdempotencyRequest } from '../idempotency.ts';
import {
  chooseToken,
  issuedAddress,
  priceInUsd,
  quotePayment,
  type TokenChoice,
  type TokenRefusal,
} from './quote-payment.ts';

/** The lifetime of payments where neither their creator nor their project names one. */
export const USUAL_EXPIRY_MINUTES = 30;

type ShopField = 'shopMetadata' | 'shopCheckout';

/** A validated request for a payment. Amount in minor units of `currency`, lifetime in milliseconds. */
export interface NewPayment
  extends
    Omit<MerchantFields, ShopField>,
    Partial<Pick<MerchantFields, ShopField>>,
    Pick<Payment, 'projectId' | 'mode' | 'api' | 'amountMinor' | 'currency'> {
  /** Orders name their token; the others leave it to the customer, unless a cashier chose one for them. */
  readonly token: { readonly asset: string; readonly network: string | null } | null;
  readonly lifetimeMs: number;
  /** The id of the HTTP request; null if there is none. */
  readonly requestId: string | null;
  /** The person who makes the payment, for the audit log; absent for API requests. */
  readonly by?: Actor;
  /** The person who makes it at the till, and the part of the amount that is a tip. */
  readonly till?: { readonly personId: string; readonly tipMinor: bigint };
}

/** A request waiting for a batch. */
export interface Item {
  readonly id: string;
  readonly createdAt: number;
  readonly request: NewPayment;
  readonly rail: Rail;
  /** Makes the body of the answer, which is stored with the payment if the request has an idempotency key. */
  readonly present: (payment: Payment) => string;
  readonly idempotency: IdempotencyRequest | null;
}

export interface Draft {
  readonly kind: 'draft';
  readonly item: Item;
  readonly payment: Payment;
  readonly address: IssuedAddress | null;
}

/** The token named by the request, if the project accepts it; null if the request names none. */
export async function chooseWanted(
  issuer: Issuer,
  { request: { projectId, token } }: Item,
): Promise<TokenChoice | null> {
  return token === null ? null : chooseToken(issuer, projectId, token.asset, token.network);
}

/**
 * The payment of a request, with a quote and an address if the request names a token. Takes no transaction number yet.
 */
export async function draftPayment(
  app: App,
  issuer: Issuer,
  item: Item,
  choice: TokenChoice | null,
): Promise<Draft | TokenRefusal> {
  const { id, createdAt, request, rail } = item;
  // The token is checked before the price: if the token is not accepted, the client must change the request, and a
  // fresh price would not help.
  if (choice !== null && choice.kind !== 'ok') return choice;
  const amountUsdCents = priceInUsd(issuer, request.amountMinor, request.currency);
  if (amountUsdCents === null) {
    return { kind: 'no_rate', message: `No current ${request.currency} price is available. Try again shortly.` };
  }
  const { token: _token, by: _by, till: _till, lifetimeMs, ...withoutEmpty } = request;
  const expiresAt = createdAt + lifetimeMs;
  const completesAt = rail.completesAt(createdAt, expiresAt);
  const asSent = blankPayment({ ...withoutEmpty, id, amountUsdCents, createdAt, expiresAt, completesAt });
  const blank = asSent.shopCheckout === null ? asSent : withReturnUrls(asSent);
  if (choice === null) return { kind: 'draft', item, payment: blank, address: null };

  const quoted = await quotePayment(issuer, blank, choice.token);
  if (quoted.kind !== 'ok') return quoted;
  const { quote, wallet } = quoted;
  // The address is watched from the moment it is saved.
  const payment = withFirstToken(blank, quote);
  const address = wallet === null ? null : issuedAddress(app, payment, quote, wallet, createdAt);
  return { kind: 'draft', item, payment, address };
}

/** The invoice of a plugin, whose URLs may name its id, which the plugin does not know before. */
function withReturnUrls(payment: Payment): Payment {
  const filled = (url: string | null): string | null =>
    url && filledReturnUrl(url, publicPaymentId(payment), payment.merchantOrderId);
  return { ...payment, successUrl: filled(payment.successUrl), cancelUrl: filled(payment.cancelUrl) };
}

/** The number of each payment of a numbered kind, by id. */
export async function takeNumbers(
  runner: StatementRunner,
  drafts: readonly Draft[],
): Promise<ReadonlyMap<string, string>> {
  const payments = drafts.flatMap(({ payment }) => (PAYMENT_KINDS[payment.api].isNumbered ? [payment] : []));
  if (payments.length === 0) return new Map();
  const groups = [
    ...Map.groupBy(payments, ({ projectId, mode, createdAt }) => `${projectId} ${mode} ${yearOf(createdAt)}`).values(),
  ];
  const wanted = groups.flatMap((group) =>
    group
      .slice(0, 1)
      .map(({ projectId, mode, createdAt }) => ({ projectId, mode, year: yearOf(createdAt), count: group.length })),
  );
  const firsts = await takeTransactionNumbers(runner, wanted);
  return new Map(
    groups.flatMap((group, place) =>
      group.map(({ id, createdAt }, index) => [
        id,
        formatTransactionNumber(yearOf(createdAt), (firsts[place] ?? NaN) + index),
      ]),
    ),
  );
}

function yearOf(at: number): number {
  return new Date(at).getUTCFullYear();
}
