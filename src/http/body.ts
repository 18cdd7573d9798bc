import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { invalid } from './errors.ts';

/** 64 KiB. */
export const BODY_LIMIT_BYTES = 65_536;

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, for idempotency keys; null without one. */
    rawBody: Buffer | null;
  }
}

/** A double holds 15 digits for sure; with more, what was written may not be what is read. */
const LONG_NUMBER = /[\d.]{16}/;

/** Reads JSON bodies and keeps their bytes. Everything else is refused. */
export function parseBodies(app: FastifyInstance): void {
  app.decorateRequest('rawBody', null);
  app.removeAllContentTypeParsers();
  const parseSafely = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES },
    (request, body, done) => {
      const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
      request.rawBody = bytes;
      if (bytes.length === 0) {
        done(null, undefined);
        return;
      }
      if (!isUtf8(bytes)) {
        done(invalid(null, 'The body must be UTF-8 text.'), undefined);
        return;
      }
      const text = bytes.toString('utf8');
      void parseSafely(request, text, (error, value) => {
        const failed = error !== null && error !== undefined;
        done(failed ? invalid(null, 'The body is not valid JSON.') : null, failed ? undefined : exact(text, value));
      });
    },
  );
}

/**
 * A number that does not read back as it was written would change an amount unseen: it becomes NaN, which no schema takes
 * for a number. In a field that nobody reads it does no harm.
 */
function exact(text: string, value: unknown): unknown {
  if (!LONG_NUMBER.test(text)) return value;
  const check = (_key: string, part: unknown, context: { readonly source?: string }): unknown =>
    typeof part === 'number' && context.source !== undefined && !readsBack(context.source, part) ? NaN : part;
  return JSON.parse(text, check as (key: string, value: unknown) => unknown);
}

function readsBack(source: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const digits = (text: string): string => {
    const [mantissa = '', exponent = '0'] = text.toLowerCase().replace(/^-/, '').split('e');
    const [whole = '', fraction = ''] = mantissa.split('.');
    const all = (whole + fraction).replace(/^0+/, '');
    const significant = all.replace(/0+$/, '');
    return `${significant}e${Number(exponent) - fraction.length + (all.length - significant.length)}`;
  };
  return digits(source) === digits(String(value));
}
