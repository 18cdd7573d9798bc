import { describe, expect, it } from 'vitest';
import { NO_WISHES, wishesOf } from './shop-checkout.ts';

const wishes = (checkout: object) => wishesOf(JSON.stringify(checkout));

describe('the wishes of a shop for its page', () => {
  it('are none where no plugin made the payment, or its plugin said nothing', () => {
    expect(NO_WISHES).toEqual({ language: null, returnsToShop: true, firstCoin: null });
    expect(wishesOf(null)).toBe(NO_WISHES);
    expect(wishes({})).toEqual(NO_WISHES);
    expect(wishes({ defaultLanguage: null, redirectAutomatically: null, defaultPaymentMethod: null })).toEqual(
      NO_WISHES,
    );
  });

  it.each([
    ['de-DE', 'de'],
    ['de', 'de'],
    ['de_DE', 'de'],
    ['DE-at-1996', 'de'],
    [' fil-PH', 'fil'],
    ['pt ', 'pt'],
    ['', null],
    ['german', null],
    ['x-klingon', null],
    ['d€', null],
    [1, null],
    [['de'], null],
    [{ code: 'de' }, null],
  ])('read the language %j as %j', (defaultLanguage, language) => {
    expect(wishes({ defaultLanguage })).toEqual({ ...NO_WISHES, language });
  });

  it.each([
    [false, false],
    [true, true],
    ['false', true],
    [0, true],
  ])('read redirectAutomatically %j as %j', (redirectAutomatically, returnsToShop) => {
    expect(wishes({ redirectAutomatically })).toEqual({ ...NO_WISHES, returnsToShop });
  });

  it.each([
    ['BTC', 'BTC/bitcoin'],
    ['LTC_CHAIN', 'LTC/litecoin'],
    ['USDT-POLYGON', 'USDT/polygon'],
    ['USDT', 'USDT'],
    ['BTC-LN', null],
    ['DOGE-CHAIN', null],
    [['BTC'], null],
  ])('read the payment method %j as %j', (defaultPaymentMethod, firstCoin) => {
    expect(wishes({ defaultPaymentMethod })).toEqual({ ...NO_WISHES, firstCoin });
  });

  it('are read one by one, among anything else that a plugin sends', () => {
    const text =
      '{"__proto__":{"redirectAutomatically":false},"speedPolicy":12345678901234567890,"defaultLanguage":"fr-FR","defaultPaymentMethod":[[]]}';
    expect(wishesOf(text)).toEqual({ ...NO_WISHES, language: 'fr' });
  });
});
