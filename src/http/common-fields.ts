import { Type, type Static, type TSchema } from 'typebox';
import type { CommonFields, Surface } from '../domain/payment.ts';
import type { CommonNames } from '../wire/payment.ts';
import { metadata } from './fields.ts';

/**
 * What merchants say of a payment under one name on both APIs: as it is taken, read and answered. A field that is missing in
 * one of these does not compile; how it is shown is in `wire/payment.ts`.
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

/** In the answers. */
export function commonShape(surface: Surface) {
  return {
    metadata: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: `As given, and order_id: the merchant's reference, else the ${surface}'s id. Not shown to public keys.`,
      }),
    ),
  } satisfies Readonly<Record<CommonNames, TSchema>>;
}
