import type { Payment, Quote } from '../../domain/payment.ts';
import { PAYMENTS } from '../schema/payments.ts';

type PaymentRow = Parameters<typeof PAYMENTS.read>[0];
type KeptPayment = Parameters<typeof PAYMENTS.records>[0][number];

const NO_QUOTE = {
  asset: null,
  network: null,
  decimals: null,
  owedUnits: null,
  toleranceUnits: null,
  address: null,
} as const satisfies Readonly<Record<keyof Quote, null>>;

/** The payment in a row. A field missing here has no column in `PAYMENTS` yet. */
export function paymentFromRow(row: PaymentRow): Payment {
  const { payment, quote, all, inTime, rest } = PAYMENTS.read(row);
  const received = { all, inTime, transactionHash: rest.decidingHash };
  // Assigned to the new object: copying so many fields takes as long as reading them.
  return Object.assign(payment, { quote: quoteOf(quote), received });
}

function quoteOf(kept: KeptPayment['quote']): Quote | null {
  const { asset, network, decimals, owedUnits, toleranceUnits, address } = kept;
  if (asset === null || network === null || decimals === null) return null;
  if (owedUnits === null || toleranceUnits === null || address === null) return null;
  return { asset, network, decimals, owedUnits, toleranceUnits, address };
}

/** The stored fields of payments, as a parameter of the statement that saves them. */
export function paymentRecords(
  payments: readonly { readonly after: Payment; readonly dueAt: number | null }[],
): string {
  return PAYMENTS.records(
    payments.map(({ after, dueAt }) => ({
      payment: after,
      quote: after.quote ?? NO_QUOTE,
      all: after.received.all,
      inTime: after.received.inTime,
      rest: { decidingHash: after.received.transactionHash, dueAt },
    })),
  );
}
