import { FIATS } from '../domain/money.ts';
import { MalformedAnswerError } from './answer.ts';
import { ONE, quotientE8, readDecimal, type Decimal } from './decimal.ts';
import type { SourcePrice, WebSource } from './source.ts';

const HOUR_MS = 3_600_000;

/**
 * The rates of a day are published around 16:00 CET on days when the TARGET system is open. The longest gap is Easter:
 * from the morning of Maundy Thursday, when its date begins, to the Tuesday afternoon after.
 */
const HOLDS_MS = 6 * 24 * HOUR_MS;

/** The European Central Bank's reference rates, which confirm the fiat rates of the exchanges. */
export const ECB: WebSource = {
  name: 'ecb',
  everyMs: HOUR_MS,
  url: 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml',
  parse: parseReferenceRates,
};

const RATE = /currency=['"]([A-Z]{3})['"]\s+rate=['"]([\d.]+)['"]/g;

/**
 * https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/: units of each currency for
 * 1 EUR. That page, too, reads the file with a regular expression.
 */
function parseReferenceRates(body: string): readonly SourcePrice[] {
  const day = /time=['"](\d{4}-\d{2}-\d{2})['"]/.exec(body)?.[1];
  const at = Date.parse(`${day}T00:00:00Z`);
  const perEuro = new Map<string, Decimal>([['EUR', ONE]]);
  for (const [, code = '', rate] of body.matchAll(RATE)) {
    const decimal = readDecimal(rate);
    if (decimal !== null) perEuro.set(code, decimal);
  }
  const dollars = perEuro.get('USD');
  if (Number.isNaN(at) || dollars === undefined) throw new MalformedAnswerError('there is no day or no rate for USD');
  return FIATS.filter((code) => code !== 'USD').flatMap((code) => {
    const units = perEuro.get(code);
    const price = units === undefined ? null : quotientE8(dollars, units);
    return price === null ? [] : [{ code, price, unit: 'USD' as const, at, referenceForMs: HOLDS_MS }];
  });
}
