import { Type, type Static } from 'typebox';
import { ASSET_CODES } from '../../domain/asset-code.ts';
import { NETWORKS } from '../../domain/networks.ts';
import { FIATS, MAX_AMOUNTS } from '../../domain/money.ts';
import { ORDER_STATUSES } from '../../domain/status.ts';
import { EXCEPTIONS } from '../../domain/payment.ts';
import { commonShape, creationBody } from '../common-fields.ts';
import { described, nullable, time, email, httpUrl, integer, oneOf, sameAs, text } from '../fields.ts';

export const createOrderBody = creationBody(
  'CreateOrder',
  {
    amount: Type.Number({
      description: `Fiat amount above 0, with no more decimals than the currency has. At most ${MAX_AMOUNTS}.`,
      examples: [25],
    }),
    currency: text({ max: 10, min: 1, description: `Fiat currency: ${FIATS.join(', ')}.` }),
    crypto_currency: text({ max: 20, min: 1, description: `Crypto asset: ${ASSET_CODES.join(', ')}.` }),
    network: Type.Optional(
      text({
        max: 20,
        min: 1,
        description: `Network to use if the asset exists on several networks: ${NETWORKS.join(', ')}.`,
      }),
    ),
    description: Type.Optional(text({ max: 1_000, description: 'Text that the customer sees on the payment page.' })),
    customer_email: Type.Optional(email),
    order_id: Type.Optional(
      text({ max: 255, description: "Merchant's own reference. Events contain it as metadata.order_id." }),
    ),
    return_url: Type.Optional(httpUrl),
    success_url: Type.Optional(sameAs('return_url')),
    cancel_url: Type.Optional(httpUrl),
    expires_in: Type.Optional(
      integer(60, 86_400, 'Lifetime in seconds. The default comes from the project’s settings (1800 unless changed).'),
    ),
  },
  {
    amount: 25,
    currency: 'USD',
    crypto_currency: 'BTC',
    order_id: 'A-1001',
    return_url: 'https://shop.example/thanks',
  },
);
export type CreateOrderBody = Static<typeof createOrderBody>;

const created = {
  id: Type.String({ examples: ['ord_01kadfw4t3f7vb8y2z6m5n9qrs'] }),
  status: oneOf(ORDER_STATUSES),
  amount: Type.Number(),
  currency: Type.String({ examples: ['USD'] }),
  crypto_currency: nullable(Type.String({ examples: ['BTC'] })),
  crypto_amount: nullable(
    Type.Number(),
    'Amount due, in whole units of crypto_currency with up to 8 decimals, for example 0.0015 for 0.0015 BTC (not in satoshi). The amount is locked when the token is chosen, and never written with an exponent.',
  ),
  payment_url: described('URL of the payment page, to which you send the customer.', {
    examples: ['https://pay.example/pay/ord_01kadfw4t3f7vb8y2z6m5n9qrs'],
  }),
  expires_at: time(),
  created_at: time(),
};

const CREATED_EXAMPLE = {
  id: 'ord_01kadfw4t3f7vb8y2z6m5n9qrs',
  status: 'pending',
  amount: 25,
  currency: 'USD',
  crypto_currency: 'BTC',
  crypto_amount: 0.00041667,
  payment_url: 'https://pay.example/pay/ord_01kadfw4t3f7vb8y2z6m5n9qrs',
  expires_at: '2026-01-31T12:30:00.000Z',
  created_at: '2026-01-31T12:00:00.000Z',
};

export const createdOrderShape = Type.Object(created, {
  title: 'CreatedOrder',
  description: 'The response to creating an order.',
  examples: [CREATED_EXAMPLE],
});

export const orderShape = Type.Object(
  {
    ...created,
    network: nullable(Type.String()),
    address: nullable(Type.String(), 'Address to which the customer pays.'),
    amount_received: nullable(Type.Number(), 'Amount detected so far, in whole units of crypto_currency.'),
    confirmations: Type.Optional(
      Type.Integer({
        description:
          'Number of confirmations of the newest transfer, at most confirmations_required. Returned only when the payment is read by its id.',
      }),
    ),
    confirmations_required: Type.Optional(
      Type.Integer({ description: 'Number of confirmations that the payment needs, fixed together with the quote.' }),
    ),
    transaction_hash: nullable(
      Type.String(),
      'Hash of the transaction that brought the received amount up to the amount due. If a smaller amount was accepted, the hash of the last transaction. Null until the payment is completed.',
    ),
    completed_at: nullable(time()),
    exception: Type.Unsafe<string>({
      ...oneOf(EXCEPTIONS),
      description:
        'Anything unusual about the payment that its status does not show. If there are several exceptions, only the most serious is given.',
    }),
    failure_reason: nullable(oneOf(['underpaid', 'unconfirmed'])),
    order_id: nullable(Type.String(), "Merchant's own reference."),
    description: nullable(Type.String()),
    customer_email: Type.Optional(nullable(Type.String(), 'Left out when a public key is used.')),
    ...commonShape('order'),
    return_url: nullable(Type.String()),
    cancel_url: nullable(Type.String()),
  },
  {
    title: 'Order',
    description: 'An order in its current state, as returned when the order is read.',
    examples: [
      {
        ...CREATED_EXAMPLE,
        status: 'completed',
        network: 'bitcoin',
        address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
        amount_received: 0.00041667,
        confirmations: 2,
        confirmations_required: 2,
        transaction_hash: '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
        completed_at: '2026-01-31T12:11:30.000Z',
        exception: 'none',
        failure_reason: null,
        order_id: 'A-1001',
        description: null,
        customer_email: null,
        metadata: { order_id: 'A-1001' },
        return_url: 'https://shop.example/thanks',
        cancel_url: null,
      },
    ],
  },
);
