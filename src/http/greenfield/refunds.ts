import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { forRequest } from '../../app/context.ts';
import { createRefund, type NewRefund } from '../../app/refunds/create-refund.ts';
import { amountNow } from '../../app/refunds/refund-size.ts';
import { shownDecimals } from '../../domain/asset.ts';
import { encodeId } from '../../domain/id.ts';
import { fiatDecimals, formatDecimal, pow10 } from '../../domain/money.ts';
import type { Payment, Quote } from '../../domain/payment.ts';
import type { Refund } from '../../domain/refund.ts';
import { listInvoices } from '../../store/payments/shop-invoices.ts';
import { refundedMoney } from '../../store/refunds/refunds.ts';
import { claimUrl } from '../../wire/refund.ts';
import { keyOf } from '../api.ts';
import { invalid, RequestError } from '../errors.ts';
import { messageOf } from '../ways-out.ts';
import { readAmount, readCurrency } from './amounts.ts';
import { noInvoice, readInvoiceOf, type OneInvoice } from './one-invoice.ts';
import { exactFields, numberText, type JsonObject } from './shop-json.ts';
import { greenfieldGuard, type Greenfield } from './store.ts';

const STORE = '/api/v1/stores/:storeId';
const MAX_TEXT = 500;

/** Refunds, which Greenfield calls pull payments: the customer claims each on our page. */
export function refundRoutes(app: FastifyInstance, api: Greenfield): void {
  app.post(`${STORE}/pull-payments`, greenfieldGuard('change_refund'), async (request, reply) => {
    const body = exactFields(request.rawBody);
    const name = textIn(body, 'name') ?? '';
    const payment = await paidOrder(api, request, name, body);
    const wanted = { amountMinor: readAmount(body['amount'], payment.currency) };
    const [, reason = ''] = /;(.*)$/su.exec(name) ?? [];
    return send(api, reply, request, { payment, wanted, name, reason: reason.trim() || textIn(body, 'description') });
  });
  app.post<OneInvoice>(`${STORE}/invoices/:id/refund`, greenfieldGuard('change_refund'), async (request, reply) => {
    const body = exactFields(request.rawBody);
    const payment = await readInvoiceOf(api, request);
    const name = textIn(body, 'name') ?? `Refund of ${payment.merchantOrderId ?? request.params.id}`;
    const size = await sizeOf(api, payment, body);
    return send(api, reply, request, { payment, ...size, name, reason: textIn(body, 'description') });
  });
}

/**
 * The only invoice with money of the order that a refund names. WooCommerce names no invoice: the order's number ends
 * the name before the first semicolon, in every language. It may have spaces, so the longest ending that is an order
 * counts.
 */
async function paidOrder(
  { app }: Greenfield,
  request: FastifyRequest,
  name: string,
  body: JsonObject,
): Promise<Payment> {
  const { project, mode } = keyOf(request);
  const currency = readCurrency(body['currency']);
  const endings = orderEndings(name);
  const search = { orderIds: endings, statuses: null, createdFrom: null, createdBefore: null };
  const found = await listInvoices(app.db, { projectId: project.id, mode }, search, { limit: 1_000, offset: 0 });
  const order = endings.find((ending) => found.some(({ merchantOrderId }) => merchantOrderId === ending));
  const paid = found.filter(
    (one) => one.merchantOrderId === order && one.currency === currency && one.received.all.confirmedUnits > 0n,
  );
  const [payment] = paid;
  if (payment !== undefined && paid.length === 1) return payment;
  const many = paid.length === 0 ? 'No invoice' : 'More than one invoice';
  throw invalid(
    'name',
    `${many} of order ${order ?? endings.at(-1)} in ${currency} has received confirmed money. ${WAY}`,
  );
}

/** The bytes after which WooCommerce cuts a name off, perhaps inside of the number. */
const CUT_BYTES = 50;
const MAX_WORDS = 12;

/** The endings of a name that may be the number of an order, the longest first. */
function orderEndings(name: string): readonly string[] {
  const [named = '', ...rest] = name.split(';');
  const words = named.trim().split(/\s+/).slice(-MAX_WORDS);
  const isCut = rest.length === 0 && Buffer.byteLength(name) >= CUT_BYTES;
  if (words.join('') === '' || isCut) {
    throw invalid('name', `name must have the number of an order, as in "Refund of order 123; reason". ${WAY}`);
  }
  const endings = words.map((_word, index) => words.slice(index).join(' '));
  return endings.flatMap((ending) => (ending.startsWith('#') ? [ending, ending.slice(1)] : [ending]));
}

const WAY = 'Refund the payment in the dashboard, or name the invoice: POST …/invoices/{id}/refund.';

type Size = Pick<NewRefund, 'wanted' | 'rateUntil'>;

/** How much a refund of one invoice returns, by its variant. */
async function sizeOf({ app }: Greenfield, payment: Payment, body: JsonObject): Promise<Size> {
  const { quote, received, currency, amountMinor } = payment;
  const percent = body['subtractPercentage'];
  if (percent !== undefined && percent !== null && Number(numberText(percent) ?? percent) !== 0) {
    throw invalid('subtractPercentage', 'subtractPercentage is not supported. Give the amount: refundVariant Custom.');
  }
  if (quote === null) throw invalid('refundVariant', 'No money has been received for this invoice.');
  switch (body['refundVariant']) {
    case 'RateThen':
      return { wanted: null };
    case 'CurrentRate': {
      const now = amountNow(app, payment, quote, amountMinor);
      if (now.kind === 'no_rate') throw new RequestError('service_unavailable', now.message);
      if (now.kind !== 'ok') throw noInvoice();
      return { wanted: { cryptoAmount: plainAmount(quote, now.units) }, rateUntil: now.until };
    }
    case 'OverpaidAmount': {
      const refunded = await refundedMoney(app.db, payment.id, quote);
      const over = received.all.confirmedUnits - quote.owedUnits - refunded.units;
      if (over <= 0n) throw invalid('refundVariant', 'No more than the amount of the invoice is left.');
      return { wanted: { cryptoAmount: plainAmount(quote, over) } };
    }
    case 'Custom': {
      const given = body['customCurrency'] ?? currency;
      if (given !== currency)
        throw invalid('customCurrency', `customCurrency must be that of the invoice: ${currency}.`);
      return { wanted: { amountMinor: readAmount(body['customAmount'], currency, 'customAmount') } };
    }
    default:
      throw invalid('refundVariant', 'refundVariant must be RateThen, CurrentRate, OverpaidAmount or Custom.');
  }
}

/** An amount of a coin with the decimals that a refund may have, rounded down. */
function plainAmount({ decimals }: Quote, units: bigint): string {
  const unit = pow10(decimals - shownDecimals(decimals));
  return formatDecimal(units - (units % unit), decimals);
}

interface Wanted extends Size {
  readonly payment: Payment;
  readonly name: string;
  readonly reason: string | null;
}

async function send(
  { app }: Greenfield,
  reply: FastifyReply,
  request: FastifyRequest,
  { payment, name, reason, ...size }: Wanted,
): Promise<FastifyReply> {
  const { id: paymentId, projectId, mode, api } = payment;
  const refund = {
    projectId,
    mode,
    api,
    paymentId,
    ...size,
    address: null,
    reason: reason?.slice(0, MAX_TEXT) ?? null,
  };
  const outcome = await createRefund(forRequest(app, request.id), refund, null);
  if (outcome.kind === 'refused')
    throw invalid(FIELDS[outcome.param ?? 'amount'] ?? 'amount', messageOf(outcome).replace(/^invoice_id: /, ''));
  if (outcome.kind !== 'done') throw noInvoice();
  return reply.send(pullPayment(outcome.refund, name, claimUrl(outcome.refund, app.links)));
}

/** The fields of these calls that stand for those of our refunds. */
const FIELDS: Readonly<Record<string, string>> = {
  invoice_id: 'name',
  amount: 'amount',
  crypto_amount: 'refundVariant',
};

function pullPayment({ id, amountMinor, currency, reason }: Refund, name: string, viewLink: string | null) {
  return {
    id: encodeId('refund', id),
    name,
    description: reason ?? '',
    amount: formatDecimal(amountMinor, fiatDecimals(currency)),
    currency,
    period: null,
    BOLT11Expiration: 30,
    autoApproveClaims: false,
    archived: false,
    viewLink,
  };
}

function textIn(body: JsonObject, field: string): string | null {
  const value = body[field];
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && value.isWellFormed() && !value.includes('\0') && value.length <= MAX_TEXT)
    return value;
  throw invalid(field, `${field} must be text of at most ${MAX_TEXT} characters, without NUL characters.`);
}
