import { Type, type TUnsafe } from 'typebox';

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
/** The longest e-mail address (RFC 5321, 4.5.3.1.3). */
export const MAX_EMAIL = 254;
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
