import { Type, type Static, type TSchema } from 'typebox';
import { FIATS, MAX_AMOUNTS } from '../../domain/money.ts';
import { EXCEPTIONS } from '../../domain/payment.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../domain/status.ts';
import { commonShape, creationBody } from '../common-fields.ts';
import {
  described,
  nullable,
  createdQuery,
  pageQuery,
  time,
  email,
  httpUrl,
  integer,
  oneOf,
  sameAs,
  text,
} from '../fields.ts';

export const createTransactionBody = creationBody(
  'CreateTransaction',
  {
    amount: Type.Number({
      description: `Amount in \`currency\`, above 0, with no more decimals than the currency has. At most ${MAX_AMOUNTS}.`,
      examples: [49.99],
    }),
    currency: Type.Optional(
      text({ max: 10, min: 1, description: `Fiat currency: ${FIATS.join(', ')}. The default is USD.` }),
    ),
    customer_email: Type.Optional(email),
    customer_name: Type.Optional(text({ max: 255 })),
    order_id: Type.Optional(text({ max: 255, description: "Merchant's own reference." })),
    order_description: Type.Optional(
      text({ max: 1_000, description: 'Text that the customer sees on the payment page.' }),
    ),
    success_url: Type.Optional(httpUrl),
    return_url: Type.Optional(sameAs('success_url')),
    cancel_url: Type.Optional(httpUrl),
    expires_in_minutes: Type.Optional(
      integer(1, 1_440, 'Lifetime in minutes. The default comes from the project’s settings (30 unless changed).'),
    ),
  },
  {
    amount: 49.99,
    order_id: 'A-1001',
    success_url: 'https://shop.example/thanks',
    cancel_url: 'https://shop.example/cart',
  },
);
export type CreateTransactionBody = Static<typeof createTransactionBody>;

export const transactionShape = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    transaction_number: described('Consecutive number within the project, mode and UTC year.', {
      examples: ['TXN-2026-000001'],
    }),
    status: oneOf(PAYMENT_STATUSES),
    amount_usd: Type.Number({ description: 'Amount in USD, at the exchange rate when the transaction was created.' }),
    amount: Type.Number({ description: 'Amount as requested, in `currency`.' }),
    currency: Type.String({ examples: ['USD'] }),
    payment_url: described('URL of the payment page, to which you send the customer.'),
    created_at: time(),
    expires_at: time(),
    transaction_hash: Type.Optional(nullable(Type.String(), 'Present once the transaction is completed.')),
    completed_at: Type.Optional(time('Present once the transaction is completed.')),
    order_id: nullable(Type.String(), "Merchant's own reference."),
    order_description: nullable(Type.String()),
    customer_email: Type.Optional(nullable(Type.String(), 'Left out when a public key is used.')),
    customer_name: Type.Optional(nullable(Type.String(), 'Left out when a public key is used.')),
    ...commonShape('transaction'),
    success_url: nullable(Type.String()),
    cancel_url: nullable(Type.String()),
    crypto_currency: nullable(Type.String(), 'Null until the customer has chosen a token.'),
    network: nullable(Type.String()),
    crypto_amount: nullable(
      Type.Number(),
      'Amount due, in whole units of crypto_currency with up to 8 decimals, for example 0.0015 for 0.0015 BTC (not in satoshi).',
    ),
    address: nullable(Type.String(), 'Address to which the customer pays.'),
    amount_received: nullable(Type.Number(), 'Amount detected so far, in whole units of crypto_currency.'),
    confirmations: Type.Optional(
      Type.Integer({
        description:
          'Number of confirmations of the newest transfer, at most confirmations_required. Returned only when the transaction is read by its id.',
      }),
    ),
    confirmations_required: Type.Optional(
      Type.Integer({ description: 'Number of confirmations that the payment needs, fixed together with the quote.' }),
    ),
    exception: Type.Unsafe<string>({
      ...oneOf(EXCEPTIONS),
      description:
        'Anything unusual about the payment that its status does not show. If there are several exceptions, only the most serious is given.',
    }),
    failure_reason: nullable(oneOf(['underpaid', 'unconfirmed'])),
  },
  {
    title: 'Transaction',
    examples: [
      {
        id: '019ab6fe-134b-7da2-b478-4a3d2ad4df19',
        transaction_number: 'TXN-2026-000001',
        status: 'created',
        amount_usd: 49.99,
        amount: 49.99,
        currency: 'USD',
        payment_url: 'https://pay.example/pay/019ab6fe-134b-7da2-b478-4a3d2ad4df19',
        created_at: '2026-01-31T12:00:00.000Z',
        expires_at: '2026-01-31T12:30:00.000Z',
        order_id: 'A-1001',
        order_description: null,
        customer_email: null,
        customer_name: null,
        metadata: { order_id: 'A-1001' },
        success_url: 'https://shop.example/thanks',
        cancel_url: 'https://shop.example/cart',
        crypto_currency: null,
        network: null,
        crypto_amount: null,
        address: null,
        amount_received: null,
        exception: 'none',
        failure_reason: null,
      },
    ],
  },
);

export const statsShape = Type.Object(
  {
    total_transactions: Type.Integer(),
    total_volume_usd: Type.Number({ description: 'Total amount of all completed transactions, in USD.' }),
    completed_transactions: Type.Integer(),
    conversion_rate: Type.Number({ description: 'Percentage of transactions that were completed, with two decimals.' }),
    by_status: Type.Object(Object.fromEntries(PAYMENT_STATUSES.map((status) => [status, Type.Integer()]))),
  },
  { title: 'Statistics' },
);

/** The envelope of every successful answer of this API. */
export const success = <Shape extends Record<string, TSchema>>(shape: Shape) =>
  Type.Object({ success: Type.Literal(true), ...shape });

export const listTransactionsQuery = Type.Object({
  status: Type.Optional(oneOf(PAYMENT_STATUSES)),
  ...createdQuery,
  ...pageQuery,
});
export interface ListTransactionsQuery {
  readonly status?: PaymentStatus;
  readonly created_after?: string;
  readonly created_before?: string;
  readonly limit?: number;
  readonly offset?: number;
}

export const statsQuery = Type.Object({
  start_date: Type.Optional(
    Type.String({
      description: 'Start of the period (inclusive), an ISO 8601 date or time. A date alone means the whole UTC day.',
      examples: ['2026-01-01'],
    }),
  ),
  end_date: Type.Optional(
    Type.String({
      description: 'End of the period (inclusive), an ISO 8601 date or time. A date alone means the whole UTC day.',
      examples: ['2026-01-31T11:59:59Z'],
    }),
  ),
  testing_mode: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether to count test transactions as well. With a test key, only test transactions are counted.',
    }),
  ),
});
export type StatsQuery = Static<typeof statsQuery>;
