import type { Selectable } from 'kysely';
import type { Payment, Quote } from '../domain/payment.ts';
import { isoTime } from '../wire/time.ts';
import type { RecordOf } from './columns.ts';
import type { PaymentsTable } from './tables.ts';

type PaymentRow = Selectable<PaymentsTable>;

/** A payment as its row says. */
export function paymentFromRow(row: PaymentRow): Payment {
  return {
    id: row.id,
    projectId: row.project_id,
    mode: row.mode,
    surface: row.surface,
    status: row.status,
    exception: row.exception,
    failureReason: row.failure_reason,
    transactionNumber: row.transaction_number,
    amountMinor: row.amount_minor,
    currency: row.currency,
    amountUsdCents: row.amount_usd_cents,
    merchantOrderId: row.merchant_order_id,
    description: row.description,
    customerEmail: row.customer_email,
    customerName: row.customer_name,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    metadata: row.metadata ?? {},
    quote: quoteFromRow(row),
    ledger: {
      all: { seenUnits: row.seen_units, minedUnits: row.mined_units, confirmedUnits: row.confirmed_units },
      inTime: {
        seenUnits: row.seen_in_time_units,
        minedUnits: row.mined_in_time_units,
        confirmedUnits: row.confirmed_in_time_units,
      },
      transactionHash: row.deciding_hash,
    },
    transactionHash: row.transaction_hash,
    completedOnUnits: row.completed_on_units,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    graceUntil: row.grace_until,
    completedAt: row.completed_at,
    cancelledAt: row.cancelled_at,
    completesAt: row.completes_at,
    confirmingSent: row.confirming_sent,
    lastSequence: row.last_sequence,
  };
}

function quoteFromRow(row: PaymentRow): Quote | null {
  const { asset, network, decimals, owed_units, tolerance_units, address } = row;
  if (asset === null || network === null || decimals === null) return null;
  if (owed_units === null || tolerance_units === null || address === null) return null;
  return { asset, network, decimals, owedUnits: owed_units, toleranceUnits: tolerance_units, address };
}

/** A time as PostgreSQL reads it; what is left out of a JSON record is null. */
export function iso(at: number | null): string | undefined {
  return at === null ? undefined : isoTime(at);
}

/** What a column of a payment is that its record says nothing of; null where it is not among these. */
const UNSAID = {
  exception: 'none',
  seen_units: 0,
  mined_units: 0,
  confirmed_units: 0,
  seen_in_time_units: 0,
  mined_in_time_units: 0,
  confirmed_in_time_units: 0,
  confirming_sent: false,
} as const satisfies Partial<Record<keyof PaymentsTable, unknown>>;

/** The row type that JSON records of payments are read into, in SQL. */
export const PAYMENT_RECORD = `json_populate_record(null::payments, '${JSON.stringify(UNSAID)}')`;

/** An amount of the ledger as PostgreSQL reads it; nought is by far the most frequent and goes unsaid. */
function units(amount: bigint): string | undefined {
  return amount === 0n ? undefined : String(amount);
}

/**
 * A payment as a JSON record of its row: PostgreSQL reads whole batches of these in one parameter. What goes unsaid is
 * left out, for both sides' sake.
 */
export function rowFromPayment(payment: Payment, dueAt: number | null): RecordOf<'payments'> {
  const { quote, ledger } = payment;
  return {
    id: payment.id,
    project_id: payment.projectId,
    mode: payment.mode,
    surface: payment.surface,
    status: payment.status,
    exception: payment.exception === UNSAID.exception ? undefined : payment.exception,
    failure_reason: payment.failureReason ?? undefined,
    transaction_number: payment.transactionNumber ?? undefined,
    amount_minor: String(payment.amountMinor),
    currency: payment.currency,
    amount_usd_cents: String(payment.amountUsdCents),
    merchant_order_id: payment.merchantOrderId ?? undefined,
    description: payment.description ?? undefined,
    customer_email: payment.customerEmail ?? undefined,
    customer_name: payment.customerName ?? undefined,
    success_url: payment.successUrl ?? undefined,
    cancel_url: payment.cancelUrl ?? undefined,
    metadata: isEmpty(payment.metadata) ? undefined : payment.metadata,
    asset: quote?.asset,
    network: quote?.network,
    decimals: quote?.decimals,
    owed_units: quote === null ? undefined : String(quote.owedUnits),
    tolerance_units: quote === null ? undefined : String(quote.toleranceUnits),
    address: quote?.address,
    seen_units: units(ledger.all.seenUnits),
    mined_units: units(ledger.all.minedUnits),
    confirmed_units: units(ledger.all.confirmedUnits),
    seen_in_time_units: units(ledger.inTime.seenUnits),
    mined_in_time_units: units(ledger.inTime.minedUnits),
    confirmed_in_time_units: units(ledger.inTime.confirmedUnits),
    deciding_hash: ledger.transactionHash ?? undefined,
    transaction_hash: payment.transactionHash ?? undefined,
    completed_on_units: payment.completedOnUnits === null ? undefined : String(payment.completedOnUnits),
    created_at: iso(payment.createdAt),
    expires_at: iso(payment.expiresAt),
    grace_until: iso(payment.graceUntil),
    completed_at: iso(payment.completedAt),
    cancelled_at: iso(payment.cancelledAt),
    completes_at: iso(payment.completesAt),
    due_at: iso(dueAt),
    confirming_sent: payment.confirmingSent || undefined,
    last_sequence: payment.lastSequence,
  };
}

function isEmpty(metadata: Readonly<Record<string, string>>): boolean {
  for (const _ in metadata) return false;
  return true;
}
