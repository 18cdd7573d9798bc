import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIATS, fiatDecimals, MIN_AMOUNT_MINOR } from '../../../domain/money.ts';
import { LANGUAGES } from '../language/locale.ts';
import { REQUEST } from './examples.fixture.ts';
import { NOTHING_TYPED, readForm, typedIn } from './form.ts';

const TYPED_AMOUNT = { ...REQUEST, amountMinor: null, minAmountMinor: 500n, maxAmountMinor: 100_000n };
const ASKING = { ...REQUEST, askEmail: true, askName: true, askNote: true };

const amountOf = (amount: string, request: Parameters<typeof readForm>[0] = TYPED_AMOUNT) => {
  const read = readForm(request, typedIn({ amount }));
  return read.kind === 'payer' ? read.payer.amountMinor : read.problems.amount;
};

describe('an amount that a payer types', () => {
  it.each([
    ['49.90', 4_990n],
    ['49,9', 4_990n],
    [' 49,90 € ', 4_990n],
    ['EUR 49.90', 4_990n],
    ['1 000', 100_000n],
    ['1\u202f000,00', 100_000n],
    ['1.000', 100_000n],
    ["1'000.00", 100_000n],
    ['\u200f٤٩٫٩٠', 4_990n],
    ['١٬٠٠٠', 100_000n],
    ['۴۹٫۹۰', 4_990n],
    ['４９．９０', 4_990n],
    ['5', 500n],
    ['4.99', 'too_little'],
    ['1000.01', 'too_much'],
    ['', 'invalid'],
    ['0', 'invalid'],
    ['-50', 'invalid'],
    ['49.9012', 'invalid'],
    ['4 9', 'invalid'],
    ['1e2', 'invalid'],
    ['$US 49', 'invalid'],
    ['USD 49', 'invalid'],
    ['49.90\0', 4_990n],
  ])('is read exactly, or refused: %s', (text, expected) => {
    expect(amountOf(text)).toBe(expected);
  });

  it('is refused whatever its length', () => {
    expect(amountOf('9'.repeat(5_000))).toBe('invalid');
  });

  it('is read as every language of the page writes it', () => {
    const anyAmount = { ...REQUEST, amountMinor: null };
    fc.assert(
      fc.property(
        fc.constantFrom(...LANGUAGES.values()),
        fc.constantFrom(...FIATS),
        fc.bigInt({ min: MIN_AMOUNT_MINOR, max: 100_000_000n }),
        (locale, currency, minor) => {
          // Without the currency's sign, which many languages write in a way of their own.
          const written = /\d[\d.,’'\s\u202f\u00a0]*\d|\d/.exec(locale.fiat(minor, currency))?.[0] ?? '';
          expect(amountOf(written, { ...anyAmount, currency })).toBe(minor);
        },
      ),
    );
    expect(fiatDecimals('JPY')).toBe(0);
  });

  it('is passed over where the request has its own', () => {
    const read = readForm(REQUEST, typedIn({ amount: '1' }));
    expect(read).toEqual({ kind: 'payer', payer: { amountMinor: null, email: null, name: null, note: null } });
  });
});

describe('asked fields', () => {
  it('are given on as they were typed; a note may be missing, lines stay', () => {
    const typed = { email: 'ann@example.com', name: ' Ann ', note: 'Two\r\nlines' };
    expect(readForm(ASKING, typedIn(typed))).toMatchObject({
      payer: { email: 'ann@example.com', name: 'Ann', note: 'Two\nlines' },
    });
    expect(readForm(ASKING, typedIn({ ...typed, note: '' }))).toMatchObject({ payer: { note: null } });
  });

  it.each([
    [{ email: 'ann', name: 'Ann' }, { email: 'invalid' }],
    [{ email: 'ann@example.com, bob@example.com', name: 'Ann' }, { email: 'invalid' }],
    [{ email: 'ann@example.com', name: '\u202e \u200b' }, { name: 'invalid' }],
    [{}, { email: 'invalid', name: 'invalid' }],
    [
      { email: `${'a'.repeat(300)}@example.com`, name: 'n'.repeat(256), note: 'x'.repeat(501) },
      { email: 'too_long', name: 'too_long', note: 'too_long' },
    ],
  ])('are refused one by one, case %$', (typed, problems) => {
    expect(readForm(ASKING, typedIn(typed))).toMatchObject({ kind: 'problems', problems });
  });

  it('are kept for the next try, cut where they are much too long, and never split a character', () => {
    const read = readForm(
      ASKING,
      typedIn({ email: 'ann', name: 'Ann', note: `${'x'.repeat(999)}😀${'y'.repeat(4_000)}` }),
    );
    expect(read.kind === 'problems' && read.typed).toMatchObject({ email: 'ann', name: 'Ann' });
    expect(read.kind === 'problems' && [read.typed.note.length, read.typed.note.isWellFormed()]).toEqual([1_000, true]);
  });

  it('that are not asked for are passed over, and so is what is no text', () => {
    expect(readForm(REQUEST, typedIn({ email: 'x', name: 'Ann', note: 'n' }))).toMatchObject({
      payer: { email: null, name: null, note: null },
    });
    expect(typedIn({ amount: ['1', '2'], email: { a: '1' } })).toEqual(NOTHING_TYPED);
    expect(typedIn(undefined)).toEqual(NOTHING_TYPED);
  });
});
