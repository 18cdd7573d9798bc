import { fiatDecimals, parseDecimal } from '../../domain/money.ts';
import type { Confirmations, Payment } from '../../domain/payment.ts';
import type { EvmChain } from '../../domain/payment-uri.ts';
import { tillOutcome, USUAL_TILL, type TillOutcome, type TillSettings } from '../../domain/till.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { doubtsOf, findTillSale, tillSalesSince, type TillScope } from '../../store/payments/till-sales.ts';
import { findProject } from '../../store/projects/projects.ts';
import type { App } from '../context.ts';
import { priceInUsd } from './quote-payment.ts';

/** A payment as the person sees it who made it at the till. */
export interface SeenSale {
  readonly payment: Payment;
  readonly tipMinor: bigint;
  readonly outcome: TillOutcome;
  /** Null while there are none to count. */
  readonly confirmations: Confirmations | null;
  /** The chain of its coin; null on networks that are not EVM chains, and in lists. */
  readonly evm: EvmChain | null;
}

/** A sale that was just made: nothing has come for it yet. */
export function newSale(app: App, payment: Payment, tipMinor: bigint): SeenSale {
  return { payment, tipMinor, outcome: { paidBy: null, doubt: null }, confirmations: null, evm: evmOf(app, payment) };
}

function evmOf(app: App, { mode, quote }: Payment): EvmChain | null {
  return quote === null ? null : app.railFor(mode).evmChain(quote);
}

/** A sale of this person; null if it is another person's, or none. */
export async function readSale(app: App, scope: TillScope, paymentId: string): Promise<SeenSale | null> {
  const sale = await findTillSale(app.db, paymentId, scope);
  if (sale === null) return null;
  const [seen] = await seenSales(app, scope, [sale]);
  if (seen === undefined) return null;
  const { payment } = seen;
  return { ...seen, confirmations: await app.railFor(scope.mode).confirmations(payment), evm: evmOf(app, payment) };
}

/** More sales of one person and day than this are not added up. */
const MAX_SALES = 5_000;

/** The sales of a person since a time, newest first. */
export async function salesSince(app: App, scope: TillScope, since: number): Promise<readonly SeenSale[]> {
  return seenSales(app, scope, await tillSalesSince(app.db, scope, since, MAX_SALES));
}

async function seenSales(
  app: App,
  { projectId }: TillScope,
  sales: readonly { readonly paymentId: string; readonly tipMinor: bigint }[],
): Promise<readonly SeenSale[]> {
  const ids = sales.map(({ paymentId }) => paymentId);
  const [payments, doubts, project] = await Promise.all([
    findPayments(app.db, ids),
    doubtsOf(app.db, ids),
    findProject(app.db, projectId),
  ]);
  const byId = new Map(payments.map((payment) => [payment.id, payment]));
  return sales.flatMap(({ paymentId, tipMinor }) => {
    const payment = byId.get(paymentId);
    if (payment === undefined) return [];
    const isBelow = isBelowLimit(app, payment, project?.till ?? USUAL_TILL);
    const outcome = tillOutcome(payment, doubts.get(paymentId) ?? [], isBelow);
    return [{ payment, tipMinor, outcome, confirmations: null, evm: null }];
  });
}

/** Whether the amount is below the limit for seen money. Amounts in other currencies are compared in USD. */
function isBelowLimit(app: App, payment: Payment, { seenBelow }: TillSettings): boolean {
  if (seenBelow === null) return false;
  const limit = parseDecimal(seenBelow.amount, fiatDecimals(seenBelow.currency));
  if (limit === null) return false;
  if (payment.currency === seenBelow.currency) return payment.amountMinor < limit;
  const inUsd = priceInUsd(app.railFor(payment.mode), limit, seenBelow.currency);
  return inUsd !== null && payment.amountUsdCents < inUsd;
}
