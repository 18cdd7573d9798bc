import type { StatusAndReason, InvoiceSearch } from '../../store/payments/shop-invoices.ts';
import { invalid } from '../errors.ts';

export interface InvoiceQuery extends InvoiceSearch {
  readonly text: string | null;
  readonly skip: number;
  readonly take: number;
}

const status = (own: StatusAndReason['status'], failureReason: StatusAndReason['failureReason'] = null) => ({
  status: own,
  failureReason,
});

/** Our statuses that each of Greenfield's covers. */
const STATUSES: Readonly<Record<string, readonly StatusAndReason[]>> = {
  New: [status('created'), status('prepared'), status('pending')],
  Processing: [status('processing'), status('confirming')],
  Settled: [status('completed')],
  Expired: [status('expired'), status('failed', 'underpaid')],
  Invalid: [status('cancelled'), status('failed', 'unconfirmed')],
};

const USUAL_TAKE = 50;
const MAX_TAKE = 250;
const MAX_SKIP = 100_000;
const MAX_ORDERS = 100;
const MAX_SECONDS = 253_402_300_799;

/**
 * The query of a list of invoices; `orderId` and `status` may be repeated, and unknown parameters are ignored.
 *
 * @throws RequestError that names the parameter and its rule
 */
export function readInvoiceQuery(query: unknown): InvoiceQuery {
  const given = query as Readonly<Record<string, unknown>>;
  const orderIds = textsOf(given, 'orderId');
  if (orderIds.length > MAX_ORDERS) throw invalid('orderId', `orderId can be given at most ${MAX_ORDERS} times.`);
  const statuses = textsOf(given, 'status').flatMap((name) => {
    const own = Object.hasOwn(STATUSES, name) ? STATUSES[name] : undefined;
    if (own === undefined) throw invalid('status', `status must be one of ${Object.keys(STATUSES).join(', ')}.`);
    return own;
  });
  const createdBefore = secondsOf(given, 'endDate');
  return {
    orderIds: orderIds.length === 0 ? null : orderIds,
    statuses: statuses.length === 0 ? null : [...new Set(statuses)],
    createdFrom: secondsOf(given, 'startDate'),
    // The end is included.
    createdBefore: createdBefore === null ? null : createdBefore + 1_000,
    text: textsOf(given, 'textSearch')[0]?.slice(0, 200) ?? null,
    skip: wholeOf(given, 'skip', MAX_SKIP) ?? 0,
    take: wholeOf(given, 'take', MAX_TAKE) ?? USUAL_TAKE,
  };
}

function textsOf(given: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const texts = [given[name] ?? []].flat().filter((one) => typeof one === 'string');
  if (texts.some((text) => text.includes('\0'))) throw invalid(name, `${name} must be without NUL characters.`);
  return texts;
}

function wholeOf(given: Readonly<Record<string, unknown>>, name: string, max: number): number | null {
  const [text] = textsOf(given, name);
  if (text === undefined || text === '') return null;
  const value = /^\d{1,12}$/.test(text) ? Number(text) : NaN;
  if (value <= max) return value;
  throw invalid(name, `${name} must be a whole number from 0 to ${max}.`);
}

function secondsOf(given: Readonly<Record<string, unknown>>, name: string): number | null {
  const seconds = wholeOf(given, name, MAX_SECONDS);
  return seconds === null ? null : seconds * 1_000;
}
