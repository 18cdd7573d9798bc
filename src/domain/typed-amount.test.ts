import { describe, expect, it } from 'vitest';
import { typedAmounts } from './typed-amount.ts';

const inEuro = (text: string): readonly bigint[] =>
  typedAmounts(text).flatMap(({ currency, minor }) => (currency === 'EUR' ? [minor] : []));

describe('an amount as people type it', () => {
  it('is read in the ways of several countries', () => {
    for (const text of ['49,90', '49.90', '49.9', '€49,90', '49,90€', 'EUR49.90', 'eur49.90']) {
      expect([text, inEuro(text)]).toEqual([text, [4_990n]]);
    }
    for (const text of ['1234.50', '1.234,50', '1,234.50', "1'234.50", '1’234,5']) {
      expect([text, inEuro(text)]).toEqual([text, [123_450n]]);
    }
    for (const text of ['1234567', '1,234,567', '1.234.567']) expect([text, inEuro(text)]).toEqual([text, []]);
    for (const text of ['1234', '1.234', '1,234']) expect([text, inEuro(text)]).toEqual([text, [123_400n]]);
  });

  it('is of the currency that its sign names, or of any', () => {
    expect(typedAmounts('€5').map(({ currency }) => currency)).toEqual(['EUR']);
    expect(typedAmounts('£5').map(({ currency }) => currency)).toEqual(['GBP']);
    expect(typedAmounts('5', 'CHF')).toEqual([{ currency: 'CHF', minor: 500n }]);
    expect(typedAmounts('5')).toContainEqual({ currency: 'JPY', minor: 5n });
    expect(typedAmounts('$5').length).toBeGreaterThan(1);
  });

  it('is not what has other letters, too many decimals or parts', () => {
    for (const text of [
      '',
      '-5',
      '+5',
      'HC-5',
      '5x',
      '1.23.45',
      '1,2345',
      '1.234.50',
      '1,234,50',
      '49,',
      ',90',
      '0',
      '٤٩',
      '5 €',
    ]) {
      expect([text, typedAmounts(text)]).toEqual([text, []]);
    }
    expect(typedAmounts('9'.repeat(255))).toEqual([]);
    expect(typedAmounts('49.90').some(({ currency }) => currency === 'JPY')).toBe(false);
  });
});
