import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Cointill, InvalidRequestError } from '../../packages/sdk/src/index.ts';
import { readJson, writeJson } from '../../packages/sdk/src/json.ts';

/** Decimal texts as JSON writes numbers, of up to 12 digits before and 18 behind the point. */
const amount = fc
  .tuple(
    fc.bigInt({ min: 0n, max: 10n ** 12n }),
    fc.integer({ min: 0, max: 18 }),
    fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }),
  )
  .map(([whole, decimals, fraction]) =>
    decimals === 0 ? String(whole) : `${whole}.${String(fraction).padStart(18, '0').slice(0, decimals)}`,
  );

describe('amounts', () => {
  it('of up to 18 decimals are written and read again without a difference: 10,000 of them', () => {
    const exact = fc.sample(amount, 10_000);
    const differing = exact.filter((text) => {
      const sent = writeJson({ amount: text, crypto_currency: 'ETH' });
      const read = Object(readJson(sent)) as Readonly<Record<string, unknown>>;
      return (
        sent !== `{"amount":${text},"crypto_currency":"ETH"}` ||
        read['amount_text'] !== text ||
        read['amount'] !== Number(text)
      );
    });
    expect(exact).toHaveLength(10_000);
    expect(differing).toEqual([]);
  });

  it('get their texts wherever they stand, and nothing else does', () => {
    const text = String.raw`{ "data" : [ {"amount" : 1.10, "crypto_amount":null,
      "description":"\"amount\":5, {\\", "metadata":{"amount":"7"}, "sequence":3, "later_field":123456789012345678901} ] }`;
    expect(readJson(text)).toEqual({
      data: [
        {
          amount: 1.1,
          amount_text: '1.10',
          crypto_amount: null,
          crypto_amount_text: null,
          description: String.raw`"amount":5, {\ `.trimEnd(),
          metadata: { amount: '7' },
          sequence: 3,
          later_field: Number('123456789012345678901'),
          later_field_text: '123456789012345678901',
        },
      ],
    });
  });

  it('do not change any other JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(!/[\d.eE+-]{16}|_text/.test(text));
        expect(readJson(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('keep a text in metadata a text', () => {
    expect(writeJson({ amount: '1', metadata: { amount: '2' } })).toBe('{"amount":1,"metadata":{"amount":"2"}}');
  });

  it.each(['', ' 1', '1.', '.5', '01', '1e3', '-1', '1,5', '+1', 'NaN', NaN, Infinity, true])(
    'are refused before anything is sent if they are %j',
    async (wrong) => {
      const cointill = new Cointill({
        key: `sk_test_${'a'.repeat(38)}`,
        url: 'https://pay.example',
        fetch: () => Promise.reject(new Error('sent')),
      });
      const refused: unknown = await cointill.orders
        .create({ amount: wrong as string, currency: 'USD', crypto_currency: 'BTC' })
        .catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(InvalidRequestError);
      expect(refused).toMatchObject({ field: 'amount', message: expect.stringMatching(/^amount must be a number or/) });
    },
  );
});
