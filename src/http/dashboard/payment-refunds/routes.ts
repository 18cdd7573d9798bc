import { PAYMENT_APIS } from '../../../domain/payment.ts';
import { PAYMENT_KINDS } from '../../../domain/payment-kind.ts';
import { roleError, sentenceError } from '../../page-sentences.ts';
import type { App } from '../../../app/context.ts';
import { selects, type PaymentSelector } from '../../../app/payments/change-payment.ts';
import { cancelRefund, readRefund } from '../../../app/refunds/change-refund.ts';
import { createRefund } from '../../../app/refunds/create-refund.ts';
import type { RefundRefusal } from '../../../app/refunds/refund-money.ts';
import { amountNow, type WantedRefund } from '../../../app/refunds/refund-size.ts';
import type { RefundOutcome } from '../../../app/refunds/save-refund.ts';
import { decimalsPart } from '../../../domain/amount-range.ts';
import { decodeId, encodeId } from '../../../domain/id.ts';
import { fiatDecimals, formatDecimal, parseDecimal, type Fiat } from '../../../domain/money.ts';
import type { Payment } from '../../../domain/payment.ts';
import { mayDo, refusalOf } from '../../../domain/role.ts';
import { findPayments } from '../../../store/payments/payments.ts';
import { withChosenAddress } from '../../../store/refunds/refunds.ts';
import { isoTime } from '../../../wire/time.ts';
import { readIsoDate } from '../../dates.ts';
import { invalid, notFound } from '../../errors.ts';
import { badField, refusedError } from '../refusal-words.ts';
import type { BodyOf } from '../contract.ts';
import { viewOf } from '../payments/record.ts';
import type { Dashboard, Routes } from '../route.ts';
import { formRequest, notAgain, noPayment, paymentSelector } from '../scope.ts';

const REFUNDS = '/dashboard/api/projects/:project/:mode/payments/:payment/refunds';

/** A payment's refunds: create and cancel. */
export function refundRoutes(routes: Routes, { people: { app: core } }: Dashboard): void {
  routes.add(`POST ${REFUNDS}`, { action: 'request_refunds' }, async ({ scope, params, body, own, request }) => {
    const selector = paymentSelector(scope, params.payment);
    if (body.address !== undefined && !mayDo(scope.role, 'create_refunds')) {
      throw roleError(scope.role, 'create_refunds');
    }
    const payment = await paymentOf(core, selector);
    const { id: paymentId, projectId, mode, api, currency } = payment;
    const outcome = await createRefund(
      own,
      {
        projectId,
        mode,
        api,
        paymentId,
        wanted: wantedOf(body, currency),
        token: { asset: body.asset, network: body.network },
        address: body.address ?? null,
        ...rateUntilOf(body),
        reason: body.reason ?? null,
      },
      formRequest(request, scope, body.request),
    );
    const refund = refundIdOf(outcome);
    return { payment: await viewOf(core, request, scope, selector), refund };
  });
  routes.add(`GET ${REFUNDS}/rate`, { action: 'request_refunds' }, async ({ scope, params, query }) => {
    const payment = await paymentOf(core, paymentSelector(scope, params.payment));
    const worth = amountNow(core, payment, query, readAmount(query.amount, payment.currency));
    switch (worth.kind) {
      case 'ok': {
        const { units, decimals, rate, at, until } = worth;
        const [coins, price] = [formatDecimal(units, decimals), formatDecimal(rate, RATE_DECIMALS)];
        return { crypto_amount: coins, rate: price, at: isoTime(at), until: isoTime(until) };
      }
      case 'no_rate':
        throw sentenceError('service_unavailable', 'no_current_price');
      case 'not_found':
        throw noPayment();
      case 'refused':
        throw refusedError(worth, fieldOf(worth.param));
    }
  });
  routes.add(
    `POST ${REFUNDS}/:refund/cancel`,
    { action: 'request_refunds' },
    async ({ scope, params, own, request }) => {
      const { projectId, mode, role } = scope;
      const selector = paymentSelector(scope, params.payment);
      const id = decodeId('refund', params.refund);
      const named = id === null ? null : await readRefund(core, { id, projectId, mode });
      // It must belong to the payment in the path.
      if (named?.paymentId !== selector.id || named.paymentApi !== selector.api) {
        throw notFound('There is no such refund of this payment.');
      }
      if (!mayDo(role, 'create_refunds') && (await withChosenAddress(core.db, [named])).has(named.id)) {
        const rule = refusalOf(role, 'create_refunds');
        throw sentenceError('permission_error', 'refund_address_not_customers', { rule });
      }
      const refund = refundIdOf(await cancelRefund(own, { id: named.id, projectId, mode }));
      return { payment: await viewOf(core, request, scope, selector), refund };
    },
  );
}

const RATE_DECIMALS = 8;

/** The payment of a selector; throws if there is none. */
async function paymentOf(core: App, selector: PaymentSelector): Promise<Payment> {
  const [payment] = await findPayments(core.db, [selector.id]);
  if (payment === undefined || !selects(selector, payment)) throw noPayment();
  return payment;
}

/** The expiry of the amount's rate, if it uses a present rate. */
function rateUntilOf({ rate_until, crypto_amount }: BodyOf<`POST ${typeof REFUNDS}`>) {
  if (rate_until === undefined) return {};
  if (crypto_amount === undefined) throw invalid('rate_until', 'rate_until can only be given with crypto_amount.');
  const time = readIsoDate('rate_until', rate_until);
  return time === null ? {} : { rateUntil: time.startAt };
}

/** The requested size; null for everything that is left. */
function wantedOf({ amount, crypto_amount }: BodyOf<`POST ${typeof REFUNDS}`>, currency: Fiat): WantedRefund {
  if (amount !== undefined && crypto_amount !== undefined) {
    throw invalid('crypto_amount', 'crypto_amount cannot be given together with amount.');
  }
  if (crypto_amount !== undefined) return { cryptoAmount: crypto_amount };
  return amount === undefined ? null : { amountMinor: readAmount(amount, currency) };
}

/** An amount in minor units; throws for anything but an amount above 0. */
function readAmount(amount: string, currency: Fiat): bigint {
  const decimals = fiatDecimals(currency);
  const amountMinor = parseDecimal(amount, decimals);
  if (amountMinor !== null && amountMinor > 0n) return amountMinor;
  throw badField('amount', 'amount_positive', { decimals: decimalsPart(decimals) });
}

/** The field of the form; null for values that the form does not have. */
function fieldOf(param: Extract<RefundRefusal, { readonly kind: 'refused' }>['param']): string | null {
  if (param === 'crypto_currency') return 'asset';
  return PAYMENT_APIS.some((api) => PAYMENT_KINDS[api].refundField === param) ? null : param;
}

/** The id of the refund; throws if it was refused. */
function refundIdOf(outcome: RefundOutcome): string {
  switch (outcome.kind) {
    case 'done':
      return encodeId('refund', outcome.refund.id);
    case 'replayed':
      return (JSON.parse(outcome.body) as { readonly id: string }).id;
    case 'not_found':
      throw noPayment();
    case 'refused':
      throw refusedError(outcome, fieldOf(outcome.param));
    case 'key_reused':
    case 'still_running':
      throw notAgain(outcome.kind);
  }
}
