import { Type, type Static, type TSchema } from 'typebox';
import { FIATS, isFiat, parseFiatAmount, type Fiat } from '../domain/money.ts';
import type { CommonFields, PaymentApi } from '../domain/payment.ts';
import type { CommonNames } from '../wire/payment.ts';
import { invalid } from './errors.ts';
import { metadata } from './fields.ts';

/**
 * The fields that merchants set under the same name on both APIs: their schemas in requests, how they are read, and
 * their schemas in answers. A field missing in one of these does not compile; `wire/payment.ts` presents them.
 */
export const commonBody = {
  metadata: Type.Optional(metadata),
} satisfies Readonly<Record<CommonNames, TSchema>>;

const body = Type.Object(commonBody);

export function readCommon(given: Static<typeof body>): CommonFields {
  return {
    metadata: given.metadata ?? {},
  };
}

/** The body that creates a payment. */
export function creationBody<Fields extends Record<string, TSchema>>(
  title: string,
  fields: Fields,
  example: Readonly<Record<string, string | number>>,
) {
  return Type.Object(
    { ...fields, ...commonBody },
    {
      title,
      description: 'Unknown fields are ignored and listed in the X-Ignored-Fields response header.',
      examples: [example],
    },
  );
}

/**
 * The `currency` of a body.
 *
 * @throws RequestError if it is not known
 */
export function readCurrency(code: string): Fiat {
  if (isFiat(code)) return code;
  const capitals = code.trim().toUpperCase();
  throw invalid(
    'currency',
    isFiat(capitals)
      ? `currency must be written in capital letters: ${capitals}.`
      : `currency must be one of ${FIATS.join(', ')}.`,
  );
}

/**
 * The `amount` of a body, in the currency's smallest unit.
 *
 * @throws RequestError if it is invalid
 */
export function readAmount(amount: number, currency: Fiat): bigint {
  const parsed = parseFiatAmount(amount, currency);
  if (parsed.kind === 'invalid') throw invalid('amount', `amount ${parsed.rule}.`);
  return parsed.minor;
}

/** The schemas in answers. */
export function commonShape(api: PaymentApi) {
  return {
    metadata: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: `The metadata given at creation, plus order_id. The value of order_id is the merchant's reference or, if there is none, the ${api}'s id. Left out when a public key is used.`,
      }),
    ),
  } satisfies Readonly<Record<CommonNames, TSchema>>;
}
