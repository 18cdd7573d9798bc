import { Type, type Static, type TSchema } from 'typebox';
import type { CommonFields, Surface } from '../domain/payment.ts';
import type { CommonNames } from '../wire/payment.ts';
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

/** The schemas in answers. */
export function commonShape(surface: Surface) {
  return {
    metadata: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: `As given, and order_id: the merchant's reference, else the ${surface}'s id. Not shown to public keys.`,
      }),
    ),
  } satisfies Readonly<Record<CommonNames, TSchema>>;
}
