import { Type, type Static } from 'typebox';
import { FIATS, MAX_AMOUNTS } from '../../domain/money.ts';
import { coinsField, commonShape, creationBody } from '../common-fields.ts';
import { described, email, httpUrl, integer, nullable, text } from '../fields.ts';
import { orderShape } from '../orders/schema.ts';

export const createInvoiceBody = creationBody(
  'CreateInvoice',
  {
    amount: Type.Number({
      description: `Amount in \`currency\`, above 0, with no more decimals than the currency has. At most ${MAX_AMOUNTS}.`,
      examples: [49.9],
    }),
    currency: text({ max: 10, min: 1, description: `Fiat currency: ${FIATS.join(', ')}.` }),
    order_id: Type.Optional(
      text({ max: 255, description: "Merchant's own reference. Events contain it as metadata.order_id." }),
    ),
    customer_email: Type.Optional(email),
    customer_name: Type.Optional(text({ max: 255 })),
    description: Type.Optional(text({ max: 1_000, description: 'Text that the customer sees on the payment page.' })),
    coins: coinsField,
    expires_in: Type.Optional(
      integer(60, 86_400, 'Lifetime in seconds. The default comes from the project’s settings (1800 unless changed).'),
    ),
    success_url: Type.Optional(httpUrl),
    cancel_url: Type.Optional(httpUrl),
  },
  { amount: 49.9, currency: 'EUR', order_id: 'A-1001', success_url: 'https://shop.example/thanks' },
);
export type CreateInvoiceBody = Static<typeof createInvoiceBody>;

const { id: _id, return_url: _returnUrl, payment_url: _paymentUrl, ...shared } = orderShape.properties;
const ID = 'inv_01kadfw4t3f7vb8y2z6m5n9qrs';
const PAYMENT_URL = `https://pay.example/pay/${ID}`;

export const invoiceShape = Type.Object(
  {
    id: Type.String({ examples: [ID] }),
    ...shared,
    payment_url: described('URL of the payment page, to which you send the customer.', { examples: [PAYMENT_URL] }),
    customer_name: Type.Optional(nullable(Type.String(), 'Left out when a public key is used.')),
    ...commonShape('invoice'),
    coins: nullable(
      Type.Array(Type.String()),
      'The coins that the customer can choose from. Null: all of the project.',
    ),
    payment_request: nullable(Type.String(), 'The id of the payment request that it pays (req_…).'),
    success_url: nullable(Type.String()),
  },
  {
    title: 'Invoice',
    examples: [
      {
        id: ID,
        status: 'pending',
        amount: 49.9,
        currency: 'EUR',
        crypto_currency: null,
        crypto_amount: null,
        payment_url: PAYMENT_URL,
        expires_at: '2026-01-31T12:30:00.000Z',
        created_at: '2026-01-31T12:00:00.000Z',
        network: null,
        address: null,
        amount_received: null,
        transaction_hash: null,
        completed_at: null,
        exception: 'none',
        failure_reason: null,
        order_id: 'A-1001',
        description: null,
        customer_email: null,
        metadata: { order_id: 'A-1001' },
        customer_name: null,
        coins: null,
        payment_request: null,
        success_url: 'https://shop.example/thanks',
        cancel_url: null,
      },
    ],
  },
);
