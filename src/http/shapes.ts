import { Type, type TSchema } from 'typebox';

/** Shapes that both APIs answer; they document and are checked by the tests, they do not filter. */

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
export const time = () => Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] });

/** Which page of a list: `limit` 1 to 100, 50 unless said otherwise. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0 })),
};

export const paginationShape = Type.Object({
  limit: Type.Integer(),
  offset: Type.Integer(),
  total: Type.Integer(),
  has_more: Type.Boolean(),
});

/** A page as `pagination` tells of it. */
export function pagination(page: { readonly limit: number; readonly offset: number }, shown: number, total: number) {
  return { limit: page.limit, offset: page.offset, total, has_more: page.offset + shown < total };
}

const keyError = Type.Object({ error: Type.Object({ type: Type.String(), message: Type.String() }) });
const orderError = Type.Object({
  error: Type.Object({ type: Type.String(), message: Type.String(), param: Type.Optional(Type.String()) }),
});
const transactionError = Type.Object({ success: Type.Literal(false), message: Type.String() });

/** The errors of the Order API by status. */
export const orderErrors = {
  400: orderError,
  401: keyError,
  403: keyError,
  404: orderError,
  409: orderError,
  429: orderError,
  500: orderError,
  503: orderError,
};

/** The errors of the Transaction API by status. */
export const transactionErrors = {
  400: transactionError,
  401: keyError,
  403: Type.Union([keyError, transactionError]),
  404: transactionError,
  409: transactionError,
  429: transactionError,
  500: transactionError,
  503: transactionError,
};

export const idempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({ description: 'The same key and body within 24 hours get the same answer. At most 255 characters.' }),
  ),
});
