import { ASSET_CODES } from '../domain/asset-code.ts';
import { FIATS } from '../domain/money.ts';
import { MalformedAnswerError, marketPrice, member, parseJson } from './answer.ts';
import { readDecimal } from './decimal.ts';
import type { SourcePrice, WebSource } from './source.ts';

/** Coinbase redeems USDC at 1 USD and states that as its rate: a promise, not a market price. */
const CODES = [...ASSET_CODES, ...FIATS].filter((code) => code !== 'USDC' && code !== 'USD');

export const COINBASE: WebSource = {
  name: 'coinbase',
  everyMs: 0,
  url: 'https://api.coinbase.com/v2/exchange-rates?currency=USD',
  parse: parseExchangeRates,
};

/**
 * https://docs.cdp.coinbase.com/coinbase-app/track-apis/exchange-rates: units of everything for one unit of `currency`.
 */
function parseExchangeRates(body: string): readonly SourcePrice[] {
  const data = member(parseJson(body), 'data');
  if (member(data, 'currency') !== 'USD') throw new MalformedAnswerError('its rates are not for USD');
  const rates = member(data, 'rates');
  return CODES.flatMap((code) => marketPrice(code, readDecimal(member(rates, code)), { inverse: true }));
}
