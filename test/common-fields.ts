import type { TSchema } from 'typebox';
import { commonBody } from '../src/http/common-fields.ts';

/** A valid value for a field, derived from its schema. */
function sampleOf(name: string, { type }: TSchema & { readonly type?: string }): unknown {
  switch (type) {
    case 'string':
      return `Some ${name}, “Grüße”`;
    case 'integer':
      return 7;
    case 'boolean':
      return true;
    case 'object':
      return { cart: '7' };
    default:
      throw new Error(`No sample is known for the schema of ${name}: say here what to send.`);
  }
}

/**
 * Every field that both APIs take and show under one name, with something to send: a new one is in the tests by itself.
 */
export const COMMON_SAMPLES: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(commonBody).map(([name, schema]) => [name, sampleOf(name, schema)]),
);
