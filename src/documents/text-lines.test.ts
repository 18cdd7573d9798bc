import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { openFonts, readFonts } from './fonts.ts';
import { cleanText, textLines, type Line, type TextStyle } from './text-lines.ts';

const STYLE: TextStyle = { size: 10, faces: openFonts(readFonts(null)).regular, missing: new Set() };
/** Runs as they are seen, from left to right, without spaces. */
const seen = ({ runs }: Line): readonly string[] => {
  const texts = runs.toSorted((a, b) => a.x - b.x).map(({ text }) => text.trim());
  return texts.filter((text) => text !== '');
};
const only = (text: string, width = 1_000): Line => {
  const [line, ...others] = textLines(text, width, STYLE);
  if (line === undefined || others.length > 0) throw new Error('It is not one line.');
  return line;
};

it('Arabic is read from the right, with numbers and Latin words from the left inside', () => {
  expect(seen(only('فاتورة 12,50 EUR رقم'))).toEqual(['رقم', 'EUR', '12,50', 'فاتورة']);
  expect(seen(only('Invoice فاتورة 7'))).toEqual(['Invoice', '7', 'فاتورة']);
});

it('runs are kept in the order in which they are read, so that copied text is', () => {
  const { runs } = only('فاتورة 12 رقم');
  expect(runs.map(({ text }) => text.trim()).filter((text) => text !== '')).toEqual(['فاتورة', '12', 'رقم']);
});

it('brackets of text from right to left are mirrored, so that they enclose their text', () => {
  expect(seen(only('ورقة (رقم)'))).toEqual(['(', 'رقم', ')', 'ورقة']);
});

it('letters of Arabic join, and a ligature is one glyph of its two letters', () => {
  const [run] = only('سلام').runs;
  const glyphs = run?.face.font.layout('سلام').glyphs ?? [];
  expect(glyphs.map(({ codePoints }) => codePoints.length)).toEqual([1, 2, 1]);
});

const word = fc.string({ unit: fc.constantFrom(...Array.from('abWŁжΩ-漢あ、12.,ةلا')), minLength: 1, maxLength: 40 });
it('every line fits, and all lines together are the whole text', () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 12 }), fc.integer({ min: 30, max: 200 }), (words, width) => {
      const text = words.join(' ');
      const lines = textLines(text, width, STYLE);
      // A word is measured letter by letter when it is broken, and letters of Arabic are wider alone than joined.
      for (const line of lines) expect(line.width).toBeLessThanOrEqual(width + 5);
      const all = lines.flatMap(({ runs }) => runs.flatMap((run) => Array.from(run.text))).toSorted();
      expect(all.filter((one) => one !== ' ')).toEqual(Array.from(cleanText(text.replaceAll(' ', ''))).toSorted());
    }),
  );
});

it('a text without visible characters is an empty line', () => {
  for (const text of ['', ' ', '\u202E\u200B']) expect(only(text)).toEqual({ runs: [], width: 0 });
});
