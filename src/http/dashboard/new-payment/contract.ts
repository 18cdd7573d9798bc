import { Type } from 'typebox';
import { ASSET_CODES } from '../../../domain/asset-code.ts';
import { FIATS } from '../../../domain/money.ts';
import { NETWORKS } from '../../../domain/networks.ts';
import { email, oneOf, text, nullable } from '../../fields.ts';
import { type Contracts, modeParams, requestField } from '../contract-parts.ts';

export const newPaymentContract = {
  /** The tokens in which the project can be paid now, most popular first. */
  'GET /dashboard/api/projects/:project/:mode/tokens': {
    params: modeParams,
    answer: Type.Object({
      data: Type.Array(Type.Object({ asset: oneOf(ASSET_CODES), network: oneOf(NETWORKS) })),
      /** The currencies of amounts, USD first. */
      currencies: Type.Array(oneOf(FIATS)),
      /** The form's initial values, from the project's settings. */
      defaults: Type.Object({ currency: nullable(oneOf(FIATS)), expires_in_minutes: nullable(Type.Integer()) }),
    }),
  },
  /** Creates an order if there is a token, otherwise an invoice. */
  'POST /dashboard/api/projects/:project/:mode/payments': {
    params: modeParams,
    body: Type.Object({
      request: requestField,
      /** Decimal text. */
      amount: text({ max: 20, min: 1 }),
      currency: oneOf(FIATS),
      /** If absent, together with `network`, the customer chooses the token. */
      asset: Type.Optional(oneOf(ASSET_CODES)),
      network: Type.Optional(oneOf(NETWORKS)),
      order_id: Type.Optional(text({ max: 255 })),
      description: Type.Optional(text({ max: 1_000 })),
      customer_email: Type.Optional(email),
      expires_in_minutes: Type.Integer({ minimum: 1, maximum: 1_440 }),
    }),
    answer: Type.Object({ id: Type.String(), payment_url: Type.String() }),
  },
} as const satisfies Contracts;
