import { describe, expect, it } from 'vitest';
import { FIATS } from '../domain/money.ts';
import { BINANCE } from './binance.ts';
import { BITFINEX } from './bitfinex.ts';
import { BITSTAMP } from './bitstamp.ts';
import { COINBASE } from './coinbase.ts';
import { ECB } from './ecb.ts';
import { KRAKEN, KRAKEN_FIAT } from './kraken.ts';
import * as published from './published-answers.fixture.ts';
import type { WebSource } from './source.ts';
import { WEB_SOURCES, webSources } from './web-sources.ts';

/** The prices of an answer, as text with eight decimals' worth of digits. */
function pricesOf(source: WebSource, body: string): Readonly<Record<string, bigint>> {
  return Object.fromEntries(source.parse(body).map(({ code, price }) => [code, price]));
}

describe('Kraken', () => {
  it("reads the middle of bid and ask from the documentation's answer", () => {
    expect(KRAKEN.parse(published.KRAKEN_PUBLISHED)).toEqual([
      { code: 'BTC', price: 3_030_005_000_000n, unit: 'USD', at: null, referenceForMs: null },
    ]);
  });

  it('knows a pair by its older and its newer name', () => {
    const body = published.krakenAnswer({ ETHUSD: ['3000', '3000'], XLTCZUSD: ['80.1', '80.2'] });
    expect(pricesOf(KRAKEN, body)).toEqual({ ETH: 300_000_000_000n, LTC: 8_015_000_000n });
  });

  it('takes a stablecoin at what it trades at', () => {
    const body = published.krakenAnswer({ USDTZUSD: ['0.9012', '0.9014'], USDCUSD: ['1.0001', '1.0001'] });
    expect(pricesOf(KRAKEN, body)).toEqual({ USDT: 90_130_000n, USDC: 100_010_000n });
  });

  it('turns pairs round that have USD first', () => {
    const body = published.krakenAnswer({ ZUSDZJPY: ['150', '150'], ZEURZUSD: ['1.1', '1.1'] });
    expect(pricesOf(KRAKEN_FIAT, body)).toEqual({ EUR: 110_000_000n, JPY: 666_667n });
  });

  it('has no price from an error, an empty book or a book that is wider than 2 %', () => {
    expect(() => KRAKEN.parse(published.KRAKEN_ERROR)).toThrow('there is no result');
    const body = published.krakenAnswer({
      XXBTZUSD: ['0.00000', '60000'],
      XETHZUSD: ['3000', '3060.1'],
      XLTCZUSD: ['81', '80'],
    });
    expect(KRAKEN.parse(body)).toEqual([]);
  });
});

describe('Coinbase', () => {
  it("refuses the documentation's answer, which is for one BTC and not for one USD", () => {
    expect(() => COINBASE.parse(published.COINBASE_PUBLISHED)).toThrow('not for USD');
  });

  it('turns the units for one dollar into dollars for one unit', () => {
    const body = published.coinbaseAnswer({
      BTC: '0.0000164203612479',
      EUR: '0.9090909',
      JPY: '150.5',
      USDT: '1.0005',
      AFN: '67.4',
    });
    expect(pricesOf(COINBASE, body)).toEqual({
      BTC: 6_090_000_000_018n,
      EUR: 110_000_001n,
      JPY: 664_452n,
      USDT: 99_950_025n,
    });
  });

  it('does not take the promise of one dollar for the price of USDC', () => {
    expect(COINBASE.parse(published.coinbaseAnswer({ USDC: '1.0', USD: '1.0' }))).toEqual([]);
  });
});

describe('Binance', () => {
  it("reads the documentation's answer, which has none of our pairs", () => {
    expect(BINANCE.parse(published.BINANCE_PUBLISHED)).toEqual([]);
  });

  it('reads its books as prices in USDT, and leaves out the one that is nearly empty', () => {
    const body = published.BINANCE_PUBLISHED.replace('LTCBTC', 'LTCUSDT').replace('ETHBTC', 'ETHUSDT');
    expect(BINANCE.parse(body)).toEqual([
      { code: 'LTC', price: 400_000_100n, unit: 'USDT', at: null, referenceForMs: null },
    ]);
  });

  it('refuses an error', () => {
    expect(() => BINANCE.parse('{"code":-1121,"msg":"Invalid symbol."}')).toThrow('not a list');
  });
});

describe('Bitstamp', () => {
  it("reads the documentation's answer with the time that it gives", () => {
    expect(BITSTAMP.parse(published.BITSTAMP_PUBLISHED)).toEqual([
      { code: 'BTC', price: 219_998_500_000n, unit: 'USD', at: 1_643_640_186_000, referenceForMs: null },
    ]);
  });

  it('takes no price without a time', () => {
    expect(BITSTAMP.parse(published.BITSTAMP_PUBLISHED.replace('1643640186', 'now'))).toEqual([]);
  });
});

describe('Bitfinex', () => {
  it('reads JSON numbers by their shortest text', () => {
    expect(pricesOf(BITFINEX, published.BITFINEX_PUBLISHED)).toEqual({ BTC: 761_700_000_000n, USDT: 100_000_500n });
  });
});

describe('the European Central Bank', () => {
  it('gives a reference for every fiat currency, with the day that it is of', () => {
    const prices = ECB.parse(published.ECB_PUBLISHED);
    expect(prices.map(({ code }) => code)).toEqual(FIATS.filter((code) => code !== 'USD'));
    expect(prices.find(({ code }) => code === 'EUR')).toEqual({
      code: 'EUR',
      price: 129_230_000n,
      unit: 'USD',
      at: Date.UTC(2013, 4, 22),
      referenceForMs: 6 * 86_400_000,
    });
    // 1.2923 USD / 133.26 JPY for the same euro.
    expect(prices.find(({ code }) => code === 'JPY')?.price).toBe(969_758n);
  });

  it('holds over Easter, from the day of Maundy Thursday to the afternoon of the Tuesday after', () => {
    const [reference] = ECB.parse(published.ECB_PUBLISHED.replace('2013-05-22', '2013-03-28'));
    const holdsUntil = (reference?.at ?? 0) + (reference?.referenceForMs ?? 0);
    expect(holdsUntil).toBeGreaterThan(Date.UTC(2013, 3, 2, 15));
  });

  it('refuses what is not its file', () => {
    expect(() => ECB.parse('<html>Under maintenance</html>')).toThrow('malformed answer');
  });
});

describe('every source', () => {
  it('is asked over https, has its own name, and all fiat currencies have two of them', () => {
    expect(new Set(WEB_SOURCES.map(({ name }) => name)).size).toBe(WEB_SOURCES.length);
    for (const { url } of WEB_SOURCES) expect(new URL(url).protocol).toBe('https:');
    const rates = Object.fromEntries(FIATS.map((code) => [code, '2']));
    const codes = COINBASE.parse(published.coinbaseAnswer(rates)).map(({ code }) => code);
    expect(codes).toEqual(FIATS.filter((code) => code !== 'USD'));
  });

  it.each(WEB_SOURCES.map((source) => [source.name, source] as const))(
    '%s throws or finds nothing in what is not of its form',
    async (_name, source) => {
      const bodies = ['', 'null', '[]', '{}', '[null,[],{}]', '{"result":{"XXBTZUSD":{"a":null,"b":[]}}}', '<Cube>'];
      for (const body of bodies) {
        const [asked] = webSources([source], async () => body);
        await expect(asked?.read(new AbortController().signal)).rejects.toThrow(/malformed answer|usable price/);
      }
    },
  );
});
