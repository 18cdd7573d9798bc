import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalSign, plainCoins, plainNumber } from '../../web/dashboard/typed-number.ts';

describe('a typed amount of coins', () => {
  it.each([
    ['1.125', null, '1.125'],
    ['1,125', '1.125', null],
    [' 12,345 ', '12.345', null],
    ['₮1,125', '1.125', null],
    ['١٫١٢٥', '1.125', '1.125'],
    ['0.125', '0.125', '0.125'],
    ['0,125', '0.125', '0.125'],
    ['12,5', '12.5', '12.5'],
    ['1234,567', '1234.567', '1234.567'],
    ['1,234.5', '1234.5', '1234.5'],
    ['1,234,567', '1234567', '1234567'],
    ['-1', null, null],
  ])('%s is %s in German and %s in English', (typed, german, english) => {
    expect([plainCoins(typed, ','), plainCoins(typed, '.')]).toEqual([german, english]);
  });
});

describe('a typed number', () => {
  it.each([
    ['12,50', '12.50', '12.50'],
    ['12.50', '12.50', '12.50'],
    ['1.234,50', '1234.50', '1234.50'],
    ['1,234.50', '1234.50', '1234.50'],
    ['1.234.567', '1234567', '1234567'],
    ['1,234,567.8', '1234567.8', '1234567.8'],
    ["1'234.50", '1234.50', '1234.50'],
    ['1’234', '1234', '1234'],
    ['1 234,5', '1234.5', '1234.5'],
    ['1\u202f234,5', '1234.5', '1234.5'],
    ['€ 49,90', '49.90', '49.90'],
    [',5', '0.5', '0.5'],
    ['007', '7', '7'],
    ['0,000001', '0.000001', '0.000001'],
    ['١٢٫٥', '12.5', '12.5'],
    ['۱۲', '12', '12'],
    ['１２．５', null, null],
    ['1.234', '1234', '1.234'],
    ['1,234', '1.234', '1234'],
    ['0.123', '0.123', '0.123'],
    ['0,123', '0.123', '0.123'],
  ])('%s is %s in German and %s in English', (typed, german, english) => {
    expect([plainNumber(typed, ','), plainNumber(typed, '.')]).toEqual([german, english]);
  });

  it.each([
    '',
    ' ',
    '.',
    ',',
    '-1',
    '1e3',
    '1.2.3',
    '1,2,3',
    '1.23,456.7',
    '12.34,5',
    '1..2',
    '0x10',
    'EUR 5',
    '5 BTC',
    '½',
  ])('is not %j', (typed) => {
    expect([plainNumber(typed, ','), plainNumber(typed, '.')]).toEqual([null, null]);
  });

  it('is read as each language writes it', () => {
    const places = fc.integer({ min: 0, max: 999_999_999 });
    const language = fc.constantFrom('de', 'en', 'en-IN', 'fr', 'de-CH', 'pl', 'es', 'ar-EG', 'fa', 'hi', 'sv');
    fc.assert(
      fc.property(language, places, fc.integer({ min: 0, max: 99 }), (intl, whole, cents) => {
        const plain = `${whole}.${String(cents).padStart(2, '0')}`;
        const shape = new Intl.NumberFormat(intl, { minimumFractionDigits: 2 });
        expect(plainNumber(shape.format(plain as `${number}`), decimalSign(intl))).toBe(plain);
      }),
    );
  });
});
