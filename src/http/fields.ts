import { MAX_EMAIL } from '../domain/mail-address.ts';
import { Type, type TUnsafe, type TSchema } from 'typebox';

/** The keyword of a rule that JSON Schema cannot express; `validation.ts` defines each. */
export const RULE = 'x-rule';

/** Text of at most `max` characters. */
export function text(options: { readonly max: number; readonly min?: number; readonly description?: string }) {
  const { max, min = 0, description } = options;
  return Type.String({
    maxLength: max,
    minLength: min,
    [RULE]: 'text',
    ...(description === undefined ? {} : { description }),
  });
}

/** A whole number within bounds. */
export function integer(minimum: number, maximum: number, description: string) {
  return Type.Integer({ minimum, maximum, description });
}

const HTTP_URL = { maxLength: 2_048, [RULE]: 'http-url', examples: ['https://shop.example/thanks'] };
export const httpUrl = Type.String(HTTP_URL);
/** A URL under its name in the other API. */
export function sameAs(field: string) {
  return Type.String({ ...HTTP_URL, description: `The same as ${field}, which is taken where both are given.` });
}
export const email = Type.String({ maxLength: MAX_EMAIL, [RULE]: 'email', examples: ['customer@example.com'] });

/** A flat object of texts: at most 50 keys, values of at most 500 characters. */
export const metadata = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  maxProperties: 50,
  propertyNames: { maxLength: 100, [RULE]: 'text' },
  additionalProperties: { type: 'string', maxLength: 500, [RULE]: 'text' },
});

/** One of a few words. */
export function oneOf<Word extends string>(words: readonly Word[]): TUnsafe<Word> {
  return Type.Unsafe<Word>({ type: 'string', enum: [...words] });
}

/**
 * Schemas of the answers of both APIs. They document, and the tests check answers against them, but they do not filter.
 * A schema's `title` is its name in the OpenAPI document (openapi.ts).
 */

export const nullable = <Schema extends TSchema>(schema: Schema, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

export const time = (description?: string) =>
  Type.String({
    format: 'date-time',
    examples: ['2026-01-31T12:00:00.000Z'],
    ...(description === undefined ? {} : { description }),
  });

export const described = (description: string, options: { readonly examples?: readonly string[] } = {}) =>
  Type.String({ description, ...(options.examples === undefined ? {} : { examples: [...options.examples] }) });

/** The creation times of the listed records. */
export const createdQuery = {
  created_after: Type.Optional(
    Type.String({ description: 'ISO 8601: only what was created after this time, or after this UTC day.' }),
  ),
  created_before: Type.Optional(
    Type.String({
      description:
        'ISO 8601: only what was created before this time or UTC day. Fix it, and pages stay as they are while more arrives.',
    }),
  ),
};

/** The page of a list: `limit` 1 to 100, by default 50. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'How many at most. Never silently clamped.' }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      default: 0,
      description: 'How many of the newest to leave out.',
    }),
  ),
};

export const paginationShape = Type.Object(
  {
    limit: Type.Integer(),
    offset: Type.Integer(),
    total: Type.Integer({ description: 'Total number of items on all pages.' }),
    has_more: Type.Boolean({ description: 'Whether there are more after this page.' }),
  },
  { title: 'Pagination' },
);

/** The `pagination` object of a page. */
export function pagination(page: { readonly limit: number; readonly offset: number }, shown: number, total: number) {
  return { limit: page.limit, offset: page.offset, total, has_more: page.offset + shown < total };
}

const message = described('Names the field, the rule and the fix. For people; it may change.');

const keyError = Type.Object(
  {
    error: Type.Object({
      type: Type.Unsafe<string>({
        type: 'string',
        enum: ['authentication_error', 'permission_error', 'https_required'],
        description:
          'The key is missing, invalid or of the other address; it may not do this; or the request came by HTTP.',
      }),
      message,
    }),
  },
  { title: 'KeyError', description: 'What is wrong with the key or the way the request came. Alike on both APIs.' },
);

const orderError = Type.Object(
  {
    error: Type.Object({
      type: Type.Unsafe<string>({
        type: 'string',
        enum: [
          'invalid_request_error',
          'not_found_error',
          'conflict_error',
          'rate_limit_error',
          'api_error',
          'service_unavailable',
        ],
        description: 'For programs: 400, 404, 409, 429, 500 and 503, in this order.',
      }),
      message,
      param: Type.Optional(described('The field, parameter or header to blame.', { examples: ['amount'] })),
    }),
  },
  { title: 'OrderError', description: 'Every other error of the Order API.' },
);

const transactionError = Type.Object(
  { success: Type.Literal(false), message },
  { title: 'TransactionError', description: 'Every other error of the Transaction API.' },
);

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
    Type.String({
      description:
        'Makes it safe to send the request again: the same key and body within 24 hours return the first response again, with `Idempotent-Replayed: true`. Another body is refused (400); while the first is still running, 409. 1 to 255 visible ASCII characters.',
      examples: ['5b0c1f1e-8f5c-4f0e-9a55-0e5d2a4f6c11'],
    }),
  ),
});
