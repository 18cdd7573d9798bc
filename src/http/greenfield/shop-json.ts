import { parseExact } from '../../wire/number.ts';
import { invalid } from '../errors.ts';

export const MAX_JSON_BYTES = 32_768;
const MAX_DEPTH = 32;

export type JsonObject = Readonly<Record<string, unknown>>;

/** A JSON object of a shop: its text, which is given back as it came, and its members. */
export interface ShopJson {
  readonly text: string;
  readonly members: JsonObject;
}

/** The fields of a body, whose numbers keep all digits. Its syntax was checked before. */
export function exactFields(rawBody: Buffer | null): JsonObject {
  try {
    const body = parseExact(rawBody?.toString().replace(/^\ufeff/, '') || '{}');
    return isObject(body) ? body : {};
  } catch (error) {
    // Its syntax was checked before, so the recursion failed: each level is a call.
    if (!(error instanceof RangeError)) throw error;
    throw invalid(null, 'The body is nested too deeply to be read.');
  }
}

/**
 * The JSON object in a field; null and a missing field are an empty one.
 *
 * @throws RequestError that names the field and the broken rule
 */
export function readShopJson(value: unknown, field: string): ShopJson {
  const object = value ?? {};
  if (!isObject(object)) throw invalid(field, `${field} must be a JSON object.`);
  checkValue(object, field, 1);
  const text = JSON.stringify(object);
  if (Buffer.byteLength(text) > MAX_JSON_BYTES) throw invalid(field, `${field} must be at most 32 KiB of JSON.`);
  return { text, members: object };
}

/** A JSON number as its text; null for everything else. */
export function numberText(value: unknown): string | null {
  return isRawNumber(value) ? value.rawJSON : null;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

const json = JSON as unknown as { isRawJSON(value: unknown): value is { readonly rawJSON: string } };

function isRawNumber(value: unknown): value is { readonly rawJSON: string } {
  return json.isRawJSON(value);
}

/** PostgreSQL keeps neither NUL nor lone surrogates, and its numbers end where those of JavaScript do. */
function checkValue(value: unknown, field: string, depth: number): void {
  if (typeof value === 'string') return checkText(value, field);
  const number = numberText(value);
  if (number !== null && !Number.isFinite(Number(number))) {
    throw invalid(field, `${field} has a number that is too large. Send it as text.`);
  }
  if (number !== null || typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) throw invalid(field, `${field} must be nested at most ${MAX_DEPTH} levels deep.`);
  for (const [name, member] of Object.entries(value)) {
    checkText(name, field);
    checkValue(member, field, depth + 1);
  }
}

function checkText(text: string, field: string): void {
  if (!text.includes('\0') && text.isWellFormed()) return;
  throw invalid(field, `${field} must be without NUL characters and lone surrogates.`);
}
