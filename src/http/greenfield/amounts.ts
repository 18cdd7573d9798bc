import {
  FIATS,
  fiatDecimals,
  formatDecimal,
  isFiat,
  maxAmountMinor,
  parseDecimal,
  type Fiat,
} from '../../domain/money.ts';
import { invalid } from '../errors.ts';
import { numberText } from './shop-json.ts';

/**
 * A currency of a body.
 *
 * @throws RequestError if it is none, with what to switch off in the plugin
 */
export function readCurrency(value: unknown): Fiat {
  const code = typeof value === 'string' ? value.trim().toUpperCase() : '';
  if (isFiat(code)) return code;
  const way =
    code === 'BTC' || code === 'SATS'
      ? ' Amounts in bitcoin are not possible: switch off the sats mode of the plugin, or let the shop count in a currency.'
      : '';
  throw invalid('currency', `currency must be one of ${FIATS.join(', ')}.${way}`);
}

/**
 * An amount of a body, in the currency's smallest unit. Plugins send texts (`"166.0000"`) and numbers, which PHP may
 * write with too many digits.
 *
 * @throws RequestError that names the field and its rule
 */
export function readAmount(value: unknown, currency: Fiat, field = 'amount'): bigint {
  const decimals = fiatDecimals(currency);
  if (value === null || value === undefined) throw invalid(field, `${field} is required.`);
  const number = numberText(value);
  const text =
    number === null || number.toLowerCase().includes('e') ? (number ?? value) : nearby(Number(number), decimals);
  const minor = typeof text === 'string' ? parseDecimal(text.trim(), decimals) : null;
  const max = maxAmountMinor(currency);
  if (minor !== null && minor > 0n && minor <= max) return minor;
  const range = `from ${formatDecimal(1n, decimals)} to ${formatDecimal(max, decimals)} ${currency}`;
  throw invalid(field, `${field} must be a plain decimal ${range}, with at most ${decimals} decimals.`);
}

/** A number of a sum of floats, such as 0.30000000000000004, as the amount that is meant; any other one as it is. */
function nearby(value: number, decimals: number): string {
  const rounded = value.toFixed(decimals);
  return Math.abs(Number(rounded) - value) < 1e-9 * Math.max(1, value) ? rounded : String(value);
}
