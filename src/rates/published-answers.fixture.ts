/**
 * The answers of the price sources, in the form that each one publishes. If a source's page shows a whole answer, it is
 * used unchanged (`_PUBLISHED`); if it shows one pair only, or fields without numbers, the others are built in the same
 * form with numbers of our own.
 */

/** https://docs.kraken.com/api/docs/rest-api/get-ticker-information, "Example (from schema)". */
export const KRAKEN_PUBLISHED = `{
  "error": [],
  "result": {
    "XXBTZUSD": {
      "a": ["30300.10000", "1", "1.000"],
      "b": ["30300.00000", "1", "1.000"],
      "c": ["30303.20000", "0.00067643"],
      "v": ["4083.67001100", "4412.73601799"],
      "p": ["30706.77771", "30689.13205"],
      "t": [34619, 38907],
      "l": ["29868.30000", "29868.30000"],
      "h": ["31631.00000", "31631.00000"],
      "o": "30502.80000"
    }
  }
}`;

/** The same form, with best bid and ask of each pair that is named. */
export function krakenAnswer(pairs: Readonly<Record<string, readonly [bid: string, ask: string]>>): string {
  const result = Object.fromEntries(
    Object.entries(pairs).map(([pair, [bid, ask]]) => [
      pair,
      { a: [ask, '1', '1.000'], b: [bid, '1', '1.000'], c: ['1.00000', '0.1'], t: [1, 2], o: '1.00000' },
    ]),
  );
  return JSON.stringify({ error: [], result });
}

/** https://docs.kraken.com/api/docs/guides/spot-errors: errors come with HTTP status 200. */
export const KRAKEN_ERROR = '{"error":["EQuery:Unknown asset pair"]}';

/**
 * https://docs.cdp.coinbase.com/coinbase-app/track-apis/exchange-rates, the response to `?currency=BTC`, without its
 * "...".
 */
export const COINBASE_PUBLISHED = `{
  "data": {
    "currency": "BTC",
    "rates": {
      "AED": "36.73",
      "AFN": "589.50",
      "ALL": "1258.82",
      "AMD": "4769.49",
      "ANG": "17.88",
      "AOA": "1102.76",
      "ARS": "90.37",
      "AUD": "12.93",
      "AWG": "17.93",
      "AZN": "10.48",
      "BAM": "17.38"
    }
  }
}`;

/** The same form, for one US dollar. */
export function coinbaseAnswer(rates: Readonly<Record<string, string>>): string {
  return JSON.stringify({ data: { currency: 'USD', rates } });
}

/**
 * https://github.com/binance/binance-spot-api-docs/blob/master/rest-api.md#symbol-order-book-ticker, the response for
 * several symbols. Its second book is as wide as can be.
 */
export const BINANCE_PUBLISHED = `[
  {
    "symbol": "LTCBTC",
    "bidPrice": "4.00000000",
    "bidQty": "431.00000000",
    "askPrice": "4.00000200",
    "askQty": "9.00000000"
  },
  {
    "symbol": "ETHBTC",
    "bidPrice": "0.07946700",
    "bidQty": "9.00000000",
    "askPrice": "100000.00000000",
    "askQty": "1000.00000000"
  }
]`;

/** https://www.bitstamp.net/api/#tag/Tickers/operation/GetCurrencyPairTickers */
export const BITSTAMP_PUBLISHED = `[
  {
    "ask": "2211.00",
    "bid": "2188.97",
    "high": "2811.00",
    "last": "2211.00",
    "low": "2188.97",
    "open": "2211.00",
    "open_24": "2211.00",
    "pair": "BTC/USD",
    "percent_change_24": "13.57",
    "side": "0",
    "timestamp": "1643640186",
    "volume": "213.26801100",
    "vwap": "2189.80"
  }
]`;

/** The same form, with best bid and ask of each pair that is named. */
export function bitstampAnswer(
  timestampSeconds: number,
  pairs: Readonly<Record<string, readonly [bid: string, ask: string]>>,
): string {
  const timestamp = String(timestampSeconds);
  return JSON.stringify(Object.entries(pairs).map(([pair, [bid, ask]]) => ({ ask, bid, last: bid, pair, timestamp })));
}

/**
 * The order of fields as in https://docs.bitfinex.com/reference/rest-public-tickers, which shows no numbers; those of
 * the first pair are of the same fields in https://docs.bitfinex.com/reference/ws-public-ticker.
 */
export const BITFINEX_PUBLISHED = `[
  ["tBTCUSD", 7616.5, 31.89055171, 7617.5, 43.358118629999986, -550.8, -0.0674, 7617.1, 8314.71200815, 8257.8, 7500],
  ["tUSTUSD", 0.99991, 31.89055171, 1.0001, 43.358118629999986, 0, 0, 1, 8314.71200815, 1.001, 0.999]
]`;

/**
 * The form of https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml, with the European Central Bank's reference
 * rates of 22 May 2013 as the National Bank of Belgium gives them (https://www.nbb.be, "Euro foreign exchange reference
 * rates as at 22 May 2013").
 */
export const ECB_PUBLISHED = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender>
		<gesmes:name>European Central Bank</gesmes:name>
	</gesmes:Sender>
	<Cube>
		<Cube time='2013-05-22'>
			<Cube currency='USD' rate='1.2923'/>
			<Cube currency='JPY' rate='133.26'/>
			<Cube currency='BGN' rate='1.9558'/>
			<Cube currency='CZK' rate='26.069'/>
			<Cube currency='DKK' rate='7.4535'/>
			<Cube currency='GBP' rate='0.85570'/>
			<Cube currency='PLN' rate='4.1784'/>
			<Cube currency='SEK' rate='8.5451'/>
			<Cube currency='CHF' rate='1.2599'/>
			<Cube currency='NOK' rate='7.4650'/>
			<Cube currency='AUD' rate='1.3253'/>
			<Cube currency='BRL' rate='2.6344'/>
			<Cube currency='CAD' rate='1.3315'/>
			<Cube currency='HKD' rate='10.0301'/>
			<Cube currency='INR' rate='71.8070'/>
			<Cube currency='MXN' rate='15.9251'/>
			<Cube currency='NZD' rate='1.5923'/>
			<Cube currency='SGD' rate='1.6314'/>
		</Cube>
	</Cube>
</gesmes:Envelope>`;
