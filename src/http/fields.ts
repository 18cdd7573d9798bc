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
  return Type.String({ ...HTTP_URL, description: `A synonym for ${field}. If both are given, ${field} is used.` });
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
    Type.String({
      description: 'Lists only items created after this ISO 8601 time, or after this UTC day if you give a date alone.',
    }),
  ),
  created_before: Type.Optional(
    Type.String({
      description:
        'Lists only items created before this ISO 8601 time, or before this UTC day if you give a date alone. Send the same value with every page request, so that pages do not shift when new items arrive.',
    }),
  ),
};

/** The page of a list: `limit` 1 to 100, by default 50. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 50,
      description: 'Maximum number of items on the page. A value outside the range is rejected (400).',
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      default: 0,
      description: 'Number of items to skip, counted from the newest.',
    }),
  ),
};

export const paginationShape = Type.Object(
  {
    limit: Type.Integer(),
    offset: Type.Integer(),
    total: Type.Integer({ description: 'Total number of items on all pages.' }),
    has_more: Type.Boolean({ description: 'Whether there are more items after this page.' }),
  },
  { title: 'Pagination' },
);

/** The `pagination` object of a page. */
export function pagination(page: { readonly limit: number; readonly offset: number }, shown: number, total: number) {
  return { limit: page.limit, offset: page.offset, total, has_more: page.offset + shown < total };
}

const message = described(
  'Explains the error: which field is wrong, which rule applies and how to fix it. The message is meant for people, and its wording may change.',
);

const keyError = Type.Object(
  {
    error: Type.Object({
      type: Type.Unsafe<string>({
        type: 'string',
        enum: ['authentication_error', 'permission_error', 'https_required'],
        description:
          '`authentication_error` means that the key is missing or invalid, or that it cannot be used at this address (a live key at the sandbox address, or a test key with the Order API at the live address). `permission_error` means that the request is not permitted, for example because the key lacks permission. `https_required` means that the request was sent over plain HTTP.',
      }),
      message,
    }),
  },
  {
    title: 'KeyError',
    description: 'An error with the key, its permission or the connection. Both APIs use this format.',
  },
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
          'gone_error',
          'rate_limit_error',
          'api_error',
          'service_unavailable',
        ],
        description:
          'The type of the error, meant for programs. In the listed order, the types belong to the statuses 400, 404, 409, 410, 429, 500 and 503.',
      }),
      message,
      param: Type.Optional(
        described('The field, parameter or header that caused the error.', { examples: ['amount'] }),
      ),
      oldest: Type.Optional(
        Type.Integer({ description: 'With 410: the oldest position in the log of events that is kept.' }),
      ),
    }),
  },
  { title: 'OrderError', description: 'Every error of the Order API that is not a KeyError.' },
);

const transactionError = Type.Object(
  { success: Type.Literal(false), message },
  { title: 'TransactionError', description: 'Every error of the Transaction API that is not a KeyError.' },
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
        'This header makes it safe to send the same request again. Within 24 hours, a request with the same Idempotency-Key and body gets the first response again, with the header `Idempotent-Replayed: true`. A request with the same Idempotency-Key and a different body is rejected (400). While the first request is still running, a second request is rejected (409). An Idempotency-Key has 1 to 255 visible ASCII characters.',
      examples: ['5b0c1f1e-8f5c-4f0e-9a55-0e5d2a4f6c11'],
    }),
  ),
});
