import { Type, type Static } from 'typebox';
import { FIATS, MAX_AMOUNTS } from '../../domain/money.ts';
import { MAX_PAYMENTS, REQUEST_STATUSES } from '../../domain/payment-request.ts';
import { COINS, coinsField } from '../common-fields.ts';
import {
  described,
  httpUrl,
  integer,
  metadata,
  nullable,
  oneOf,
  pageQuery,
  paginationShape,
  text,
  time,
} from '../fields.ts';

const asked = (what: string) => Type.Optional(Type.Boolean({ description: `Whether payers are asked for ${what}.` }));

export const createRequestBody = Type.Object(
  {
    title: text({ max: 200, min: 1, description: 'What is to be paid, as payers see it.' }),
    amount: nullable(
      Type.Number({ examples: [250] }),
      `Amount in \`currency\`, at most ${MAX_AMOUNTS}. Null: the payer types it, within min_amount and max_amount.`,
    ),
    currency: text({ max: 10, min: 1, description: `Fiat currency: ${FIATS.join(', ')}.` }),
    min_amount: Type.Optional(Type.Number({ description: 'The least that can be typed. Only with amount null.' })),
    max_amount: Type.Optional(Type.Number({ description: 'The most that can be typed. Only with amount null.' })),
    description: Type.Optional(text({ max: 1_000, description: 'Text that payers see below the title.' })),
    reference: Type.Optional(
      text({ max: 255, description: 'Your own reference. Its invoices have it as their order_id.' }),
    ),
    expires_at: Type.Optional(time('When it stops taking payments; by default never.')),
    max_payments: Type.Optional(
      nullable(
        integer(
          1,
          MAX_PAYMENTS,
          'How often it can be paid. 1, the default: once, in parts if need be, and what is missing stays asked for.',
        ),
        'Null: as often as people like.',
      ),
    ),
    coins: coinsField,
    success_url: Type.Optional(httpUrl),
    ask: Type.Optional(
      Type.Object({ email: asked('an e-mail address'), name: asked('a name'), note: asked('a note') }),
    ),
    metadata: Type.Optional(metadata),
  },
  {
    title: 'CreatePaymentRequest',
    description: 'Unknown fields are ignored and listed in the X-Ignored-Fields response header.',
    examples: [{ title: 'Deposit for the wedding cake', amount: 250, currency: 'EUR', reference: 'CAKE-17' }],
  },
);
export type CreateRequestBody = Static<typeof createRequestBody>;

const amount = (description: string) => Type.Number({ description });

/** The fields of a payment request, also in an event's data. */
export const requestFields = {
  id: Type.String({ examples: ['req_01kadfw4t3f7vb8y2z6m5n9qrs'] }),
  object: Type.Literal('payment_request'),
  status: Type.Unsafe<string>({
    ...oneOf(REQUEST_STATUSES),
    description: 'open takes payments; paid has all that it asked for; closed was ended by you, expired by its date.',
  }),
  title: Type.String(),
  description: nullable(Type.String()),
  reference: nullable(Type.String()),
  amount: nullable(Type.Number(), 'Null: the payer types it.'),
  min_amount: nullable(Type.Number()),
  max_amount: nullable(Type.Number()),
  currency: Type.String(),
  amount_paid: amount('The confirmed money of its invoices, each at the rate that it was paid at.'),
  amount_pending: amount('Money that was seen and is not confirmed yet.'),
  amount_refunded: amount('Completed refunds of its invoices. amount_paid contains them.'),
  amount_left: nullable(Type.Number(), 'What can still be paid. Null if the amount is not asked for just once.'),
  payments: Type.Integer({ description: 'The number of completed invoices.' }),
  max_payments: nullable(Type.Integer()),
  coins: nullable(Type.Array(Type.String()), COINS),
  success_url: nullable(Type.String()),
  ask: Type.Object({ email: Type.Boolean(), name: Type.Boolean(), note: Type.Boolean() }),
  metadata: Type.Record(Type.String(), Type.String()),
  url: described('The page to which you send payers.', {
    examples: ['https://pay.example/request/req_01kadfw4t3f7vb8y2z6m5n9qrs'],
  }),
  created_at: time(),
  expires_at: nullable(time()),
  ended_at: nullable(time()),
};

export const requestShape = Type.Object(requestFields, { title: 'PaymentRequest' });

export const listRequestsQuery = Type.Object({ status: Type.Optional(oneOf(REQUEST_STATUSES)), ...pageQuery });
export type ListRequestsQuery = Static<typeof listRequestsQuery>;

export const requestListShape = Type.Object(
  { data: Type.Array(requestShape), pagination: paginationShape },
  { title: 'PaymentRequestList' },
);
