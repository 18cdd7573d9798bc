import { afterEach, describe, expect, it } from 'vitest';
import type { UsdPriceE8 } from '../domain/asset.ts';
import { FIATS } from '../domain/money.ts';
import { createHttpClient } from './http.ts';
import { createLiveRates, type LiveRates, type LiveRatesOptions } from './live.ts';
import { serveHttps } from './local-https.fixture.ts';
import * as published from './published-answers.fixture.ts';
import type { PriceSource, SourcePrice } from './source.ts';
import { WEB_SOURCES, webSources } from './web-sources.ts';
import { noteProblems } from '../../test/problems.ts';

const START = Date.UTC(2026, 0, 5, 12);
const USD = 100_000_000n;

type Said = Pick<SourcePrice, 'code' | 'price'> & Partial<SourcePrice>;

/** A source that says what it is told to, until it is told otherwise. */
function scripted(name: string, ...withoutEmpty: readonly Said[]) {
  const state = { withoutEmpty, fault: null as Error | null, asked: 0, everyMs: 0 };
  const source: PriceSource = {
    name,
    get everyMs() {
      return state.everyMs;
    },
    read: async () => {
      state.asked += 1;
      if (state.fault !== null) throw state.fault;
      const prices = state.withoutEmpty.map((price) => ({
        unit: 'USD' as const,
        at: null,
        referenceForMs: null,
        ...price,
      }));
      return { prices, problem: null };
    },
  };
  return { ...source, source, state };
}

function btc(usd: bigint): Said {
  return { code: 'BTC', price: usd * USD };
}

const opened: LiveRates[] = [];
afterEach(() => {
  for (const rates of opened.splice(0)) rates.close();
});

function live(sources: readonly PriceSource[], options: Partial<LiveRatesOptions> = {}) {
  const time = { now: START };
  const lines: string[] = [];
  const rates = createLiveRates({
    sources,
    clock: () => time.now,
    maxAgeMs: 120_000,
    timeoutMs: 5_000,
    backOffMs: 20_000,
    problems: {
      ...noteProblems(({ subject, problem }) => void lines.push(`${subject}: ${String(problem)}`)),
      works: (subject) => void lines.push(`${subject} works`),
    },
    ...options,
  });
  opened.push(rates);
  return { rates, time, lines };
}

describe('a price', () => {
  it('is null before the first answer, except for USD itself', () => {
    const { rates } = live([scripted('a', btc(60_000n)).source]);
    expect(rates.usdPrice('BTC')).toBeNull();
    expect(rates.usdPrice('USD')).toBe(USD);
  });

  it('is the median of the sources, and is no longer given when it is older than the bound', async () => {
    const { rates, time } = live([
      scripted('a', btc(60_000n)).source,
      scripted('b', btc(60_010n)).source,
      scripted('c', btc(90_000n)).source,
    ]);
    await rates.refresh();
    expect(rates.usdPrice('BTC')).toBe(60_010n * USD);
    time.now += 120_000;
    expect(rates.usdPrice('BTC')).toBe(60_010n * USD);
    time.now += 1;
    expect(rates.usdPrice('BTC')).toBeNull();
  });

  it('grows old from the moment before the question, or from the time that the source gives when that is earlier', async () => {
    const slow = scripted('slow', btc(60_000n));
    const { rates, time } = live([
      scripted('a', { ...btc(60_000n), at: START - 100_000 }).source,
      scripted('b', { ...btc(60_000n), at: START + 100_000 }).source,
      { ...slow.source, read: (signal) => ((time.now += 3_000), slow.source.read(signal)) },
    ]);
    await rates.refresh();
    time.now = START + 20_001;
    expect(rates.usdPrice('BTC')).toBe(60_000n * USD);
    time.now = START + 120_000;
    expect(rates.usdPrice('BTC')).toBe(60_000n * USD);
    time.now = START + 120_001;
    expect(rates.usdPrice('BTC')).toBeNull();
  });

  it('follows new answers at once, and forgets what a source no longer says', async () => {
    const [a, b] = [scripted('a', btc(60_000n)), scripted('b', btc(60_000n))];
    const { rates } = live([a.source, b.source]);
    await rates.refresh();
    expect(rates.usdPrice('BTC')).toBe(60_000n * USD);
    a.state.withoutEmpty = [btc(61_000n)];
    b.state.withoutEmpty = [btc(61_000n)];
    await rates.refresh();
    expect(rates.usdPrice('BTC')).toBe(61_000n * USD);
    b.state.withoutEmpty = [];
    await rates.refresh();
    expect(rates.usdPrice('BTC')).toBeNull();
  });

  it('is gone when our clock is set back, and there again at the next refresh', async () => {
    const { rates, time } = live([scripted('a', btc(60_000n)).source, scripted('b', btc(60_000n)).source]);
    await rates.refresh();
    expect(rates.usdPrice('BTC')).toBe(60_000n * USD);
    time.now -= 3_600_000;
    expect(rates.usdPrice('BTC')).toBeNull();
    await rates.refresh();
    expect(rates.usdPrice('BTC')).toBe(60_000n * USD);
  });

  it('in USDT is worth what USDT trades at, and nothing while that is not known', async () => {
    const tether: readonly Said[] = [{ code: 'USDT', price: 90_000_000n }];
    const [a, b] = [scripted('a', ...tether), scripted('b', ...tether)];
    const binance = scripted('binance', { ...btc(60_000n), unit: 'USDT' });
    const other = scripted('other', btc(54_000n));
    const { rates, time } = live([a.source, b.source, binance.source, other.source]);
    await rates.refresh();
    expect(rates.usdPrice('USDT')).toBe(90_000_000n);
    expect(rates.usdPrice('BTC')).toBe(54_000n * USD);
    a.state.withoutEmpty = [];
    b.state.withoutEmpty = [];
    time.now += 1;
    await rates.refresh();
    expect(rates.usdPrice('USDT')).toBeNull();
    expect(rates.usdPrice('BTC')).toBeNull();
  });
});

describe('a price in USDT', () => {
  it('goes with the price of USDT, though it is younger itself', async () => {
    const tether: Said = { code: 'USDT', price: USD };
    const [a, b] = [scripted('a', tether), scripted('b', tether)];
    const binance = scripted('binance', { ...btc(60_000n), unit: 'USDT' });
    const { rates, time } = live([a.source, b.source, binance.source, scripted('other', btc(60_000n)).source]);
    await rates.refresh();
    a.state.fault = b.state.fault = new Error('HTTP status 500');
    time.now += 100_000;
    await rates.refresh();
    expect(rates.usdPrice('BTC')).toBe(60_000n * USD);
    time.now += 20_001;
    expect(rates.usdPrice('BTC')).toBeNull();
  });
});

describe('a source', () => {
  it('that hangs delays no other, and counts as failed when its time is up', async () => {
    const hanging: PriceSource = { name: 'hanging', everyMs: 0, read: () => new Promise(() => {}) };
    const [a, b] = [scripted('a', btc(60_000n)), scripted('b', btc(60_000n))];
    const { rates, lines } = live([hanging, a.source, b.source], { timeoutMs: 50 });
    const refreshed = rates.refresh();
    await new Promise((resolve) => setImmediate(resolve));
    expect(rates.usdPrice('BTC')).toBe(60_000n * USD);
    await refreshed;
    expect(rates.status()).toEqual([
      { source: 'hanging', lastOkAt: null, lastError: 'no complete answer in time' },
      { source: 'a', lastOkAt: START, lastError: null },
      { source: 'b', lastOkAt: START, lastError: null },
    ]);
    expect(lines).toEqual([
      'price source a works',
      'price source b works',
      'price source hanging: no complete answer in time',
    ]);
  });

  it('that fails is asked again at the next refresh, then ever more rarely, up to every five minutes', async () => {
    const a = scripted('a');
    a.state.fault = new Error('HTTP status 500');
    const { rates, time, lines } = live([a.source]);
    const askedAt: number[] = [];
    for (let second = 0; second <= 1_000; second += 20) {
      time.now = START + second * 1000;
      const before = a.state.asked;
      await rates.refresh();
      if (a.state.asked > before) askedAt.push(second);
    }
    expect(askedAt).toEqual([0, 20, 40, 80, 160, 320, 620, 920]);
    const failures = askedAt.map(() => 'price source a: HTTP status 500');
    expect(lines).toEqual(failures);
    a.state.fault = null;
    time.now += 300_000;
    await rates.refresh();
    expect(lines).toEqual([...failures, 'price source a works']);
  });

  it('keeps its last prices while it fails, until they are too old', async () => {
    const [a, b] = [scripted('a', btc(60_000n)), scripted('b', btc(60_000n))];
    const { rates, time } = live([a.source, b.source]);
    await rates.refresh();
    a.state.fault = new Error('HTTP status 500');
    time.now += 100_000;
    await rates.refresh();
    expect(rates.usdPrice('BTC')).toBe(60_000n * USD);
    time.now += 20_001;
    await rates.refresh();
    expect(rates.usdPrice('BTC')).toBeNull();
  });

  it('is not asked before its time, nor while it is still being asked', async () => {
    const daily = scripted('daily', btc(60_000n));
    daily.state.everyMs = 3_600_000;
    const { promise, resolve } = Promise.withResolvers<never[]>();
    let asked = 0;
    const slow: PriceSource = {
      name: 'slow',
      everyMs: 0,
      read: async () => {
        asked += 1;
        return { prices: await promise, problem: null };
      },
    };
    const { rates, time } = live([daily.source, slow]);
    const first = rates.refresh();
    await rates.refresh();
    resolve([]);
    await first;
    expect(asked).toBe(1);
    time.now += 3_599_999;
    await rates.refresh();
    expect(daily.state.asked).toBe(1);
    time.now += 1;
    await rates.refresh();
    expect(daily.state.asked).toBe(2);
  });

  it('is given up when the rates are closed, without a word in the log', async () => {
    const hanging: PriceSource = { name: 'hanging', everyMs: 0, read: () => new Promise(() => {}) };
    const { rates, lines } = live([hanging]);
    const refreshed = rates.refresh();
    rates.close();
    await refreshed;
    expect(lines).toEqual([]);
  });
});

describe('all sources on the web, over real sockets', () => {
  const seconds = START / 1000;
  const spot = {
    BTC: ['59990', '60010'],
    ETH: ['2999', '3001'],
    LTC: ['79.9', '80.1'],
    USDT: ['0.9995', '0.9997'],
  } as const;
  const { BTC, ETH, LTC, USDT } = spot;
  const inverse = (usd: number): string => (1 / usd).toFixed(16);
  const fiats = { EUR: 1.1, GBP: 1.3, CHF: 1.15, CAD: 0.72, AUD: 0.65, NZD: 0.6, JPY: 0.0065, SGD: 0.75, HKD: 0.128 };
  const more = { SEK: 0.095, NOK: 0.092, DKK: 0.147, PLN: 0.25, BRL: 0.18, MXN: 0.052, INR: 0.0118 };
  const dollars: Readonly<Record<string, number>> = { ...fiats, ...more };
  const euroRates = Object.entries({ ...dollars, USD: 1 })
    .filter(([code]) => code !== 'EUR')
    .map(([code, usd]) => `<Cube currency='${code}' rate='${(1.1 / usd).toFixed(6)}'/>`);

  const answers = new Map<string, string>([
    [
      'api.kraken.com XBTUSD',
      published.krakenAnswer({ XXBTZUSD: BTC, XETHZUSD: ETH, XLTCZUSD: LTC, USDTZUSD: USDT, USDCUSD: ['1', '1.0001'] }),
    ],
    ['api.kraken.com EURUSD', published.krakenAnswer({ ZEURZUSD: ['1.0999', '1.1001'], ZUSDZCAD: ['1.388', '1.39'] })],
    [
      'api.coinbase.com',
      published.coinbaseAnswer({
        BTC: inverse(60_000),
        ETH: inverse(3_000),
        LTC: inverse(80),
        USDT: inverse(0.9996),
        USDC: '1.0',
        ...Object.fromEntries(Object.entries(dollars).map(([code, usd]) => [code, inverse(usd)])),
      }),
    ],
    [
      'data-api.binance.vision',
      JSON.stringify([
        { symbol: 'BTCUSDT', bidPrice: '60020.00', bidQty: '1', askPrice: '60030.00', askQty: '1' },
        { symbol: 'USDCUSDT', bidPrice: '1.0004', bidQty: '1', askPrice: '1.0005', askQty: '1' },
      ]),
    ],
    ['www.bitstamp.net', published.bitstampAnswer(seconds, { 'BTC/USD': BTC, 'ETH/USD': ETH, 'LTC/USD': LTC })],
    ['api-pub.bitfinex.com', published.BITFINEX_PUBLISHED],
    [
      'www.ecb.europa.eu',
      published.ECB_PUBLISHED.replace('2013-05-22', '2026-01-02').replace(
        /<Cube currency[^]*rate='[\d.]+'\/>/,
        euroRates.join('\n'),
      ),
    ],
  ]);

  async function overSockets(down: readonly string[]) {
    const server = await serveHttps((request, response) => {
      const host = request.headers.host ?? '';
      const pair = /pair=(\w+)/.exec(request.url ?? '')?.[1];
      const key = pair === undefined ? host : `${host} ${pair}`;
      if (down.includes(host)) response.writeHead(503).end();
      else response.end(answers.get(key) ?? 'nobody');
    });
    const client = createHttpClient({ connect: server.connect });
    const opened = live(webSources(WEB_SOURCES, client.fetchText));
    await opened.rates.refresh();
    await client.close();
    await server.close();
    return opened.rates;
  }

  /** Within half a percent: the sources differ a little. */
  function isNear(price: UsdPriceE8 | null, usd: number): boolean {
    return price !== null && Math.abs(Number(price) / 1e8 / usd - 1) < 0.005;
  }

  it('give every asset and every fiat currency a price, past the one that is wrong', async () => {
    const rates = await overSockets([]);
    expect(rates.status().filter(({ lastError }) => lastError !== null)).toEqual([]);
    const expected = { BTC: 60_000, ETH: 3_000, LTC: 80, USDT: 0.9996, USDC: 1, ...dollars };
    for (const [code, usd] of Object.entries(expected)) {
      const known = [...FIATS, 'BTC', 'ETH', 'LTC', 'USDT', 'USDC'] as const;
      const asked = known.find((each) => each === code) ?? 'USD';
      expect([code, isNear(rates.usdPrice(asked), usd)]).toEqual([code, true]);
    }
    // Bitfinex's documented example is from another year.
    expect(rates.status().map(({ source }) => source)).toContain('bitfinex');
  });

  it('lose only the fiat currencies that Kraken does not trade when Coinbase is away', async () => {
    const rates = await overSockets(['api.coinbase.com']);
    expect(rates.status().find(({ source }) => source === 'coinbase')?.lastError).toBe('HTTP status 503');
    expect(isNear(rates.usdPrice('BTC'), 60_000)).toBe(true);
    expect(isNear(rates.usdPrice('EUR'), 1.1)).toBe(true);
    expect(rates.usdPrice('SEK')).toBeNull();
  });

  it('have no price for anything when all are away', async () => {
    const rates = await overSockets([...answers.keys()].map((key) => key.split(' ')[0] ?? ''));
    expect(rates.usdPrice('BTC')).toBeNull();
    expect(rates.usdPrice('EUR')).toBeNull();
    expect(rates.usdPrice('USD')).toBe(USD);
  });
});
