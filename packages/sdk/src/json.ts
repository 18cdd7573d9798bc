import { AMOUNTS } from './api.generated.ts';
import { invalid } from './errors.ts';

/**
 * A name, and the number or null after it. Each string is matched as a whole, so that nothing inside one is taken for a
 * name; only names are followed by a colon.
 */
const FIELD = /"([^"\\]*(?:\\.[^"\\]*)*)"(?:\s*:\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|null))?/g;
/** A double holds fifteen digits; a longer number may differ from its text in any field. */
const SAFE_LENGTH = 16;
/** A decimal number as JSON writes it. */
const DECIMAL = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;

/**
 * Parses JSON, and puts the exact text of each amount beside it: `crypto_amount: 0.0015` gets
 * `crypto_amount_text: '0.0015'`. The text is added before parsing, because Node.js 20 does not show it afterwards.
 *
 * @throws SyntaxError if the text is not JSON
 */
export function readJson(text: string): unknown {
  // The expression would take long on text that is no JSON.
  JSON.parse(text);
  return JSON.parse(
    text.replace(FIELD, (whole, name: string, number: string | undefined) => {
      if (number === undefined || (number === 'null' && !AMOUNTS.has(name))) return whole;
      if (!AMOUNTS.has(name) && number.length < SAFE_LENGTH) return whole;
      return `${whole},"${name}_text":${number === 'null' ? 'null' : `"${number}"`}`;
    }),
  );
}

/**
 * Writes JSON. An amount may be a decimal text, which is written as a number with exactly these digits.
 *
 * @throws InvalidRequestError if an amount is neither a number nor such a text
 */
export function writeJson(value: object): string {
  const fields = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{${fields.map(([name, one]) => `${JSON.stringify(name)}:${writeField(name, one)}`).join(',')}}`;
}

function writeField(name: string, value: unknown): string {
  if (AMOUNTS.has(name) && value !== null) return amountText(name, value);
  // The values of metadata are texts, whatever their names are.
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && name !== 'metadata';
  return isObject ? writeJson(value) : JSON.stringify(value);
}

function amountText(name: string, value: unknown): string {
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (typeof value === 'string' && DECIMAL.test(value)) return value;
  throw invalid(
    name,
    `${name} must be a number or a decimal text such as '25.50', without spaces, signs, exponents or commas.`,
  );
}
