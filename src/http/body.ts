import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, preValidationHookHandler } from 'fastify';
import { BODY_LIMIT_BYTES, invalid, RequestError, WRONG_CONTENT_TYPE } from './errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body's bytes, for idempotency keys; null without a body. */
    rawBody: Buffer | null;
  }
}

/**
 * No body needs more long numbers than this. Comparing each with its text takes as long as parsing hundreds of short
 * ones.
 */
const MAX_LONG_NUMBERS = 100;
/** A double holds 15 digits exactly; parsing a longer number may change it. */
const LONG_NUMBER = /[\d.]{16}/;

/** Parses JSON bodies and keeps their bytes. All other bodies are refused. */
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
        const read = error === null || error === undefined ? exact(text, value) : invalid(null, whyNot(text));
        if (read instanceof RequestError) done(read, undefined);
        else done(null, read);
      });
    },
  );
  // `curl -X POST -d ''` sends a form's content type without any body.
  app.addContentTypeParser('*', (request, _payload, done) => {
    const isEmpty = request.headers['content-length'] === '0';
    done(isEmpty ? null : invalid(null, WRONG_CONTENT_TYPE), undefined);
  });
  app.addHook('onRoute', (route) => {
    const body: { readonly required?: readonly string[] } | undefined = Object(route.schema).body;
    if (body === undefined) return;
    const own = route.preValidation === undefined ? [] : [route.preValidation].flat();
    const needsBody = (body.required?.length ?? 0) > 0;
    route.preValidation = [needsBody ? refuseNone : takeNone, ...own];
  });
}

/** Refuses a request without a body before schema validation would report that null is not allowed. */
const refuseNone: preValidationHookHandler = (request, _reply, done) => {
  done(request.body === undefined ? invalid(null, 'The body must be a JSON object, but it is empty.') : undefined);
};

/** Reads a missing body of which no field is required as an empty object. */
const takeNone: preValidationHookHandler = (request, _reply, done) => {
  request.body ??= {};
  done();
};

/** Why a text was refused although it may be valid JSON: some keys change how an object behaves. */
function whyNot(text: string): string {
  try {
    JSON.parse(withoutMark(text));
    return 'No object in the body may have the key __proto__, or the key constructor with the key prototype inside it.';
  } catch {
    return 'The body is not valid JSON.';
  }
}

/** The text without the byte order mark that a JSON parser may ignore (RFC 8259, 8.1), as the first parser does. */
function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/**
 * A number that parsing changes would change an amount silently: it becomes NaN, which no schema accepts as a number.
 * In a field that nobody reads it does no harm.
 */
function exact(text: string, value: unknown): unknown {
  if (!LONG_NUMBER.test(text)) return value;
  let left = MAX_LONG_NUMBERS;
  const check = (_key: string, part: unknown, { source }: { readonly source?: string }): unknown => {
    if (typeof part !== 'number' || source === undefined || !LONG_NUMBER.test(source)) return part;
    left -= 1;
    return left >= 0 && readsBack(source, part) ? part : NaN;
  };
  try {
    return JSON.parse(withoutMark(text), check as (key: string, value: unknown) => unknown);
  } catch (error) {
    // The text was parsed before, so the recursion failed: each level is a call.
    if (!(error instanceof RangeError)) throw error;
    return invalid(null, 'The body is nested too deeply to be read.');
  }
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
