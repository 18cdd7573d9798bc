import { expect, it } from 'vitest';
import { hasVisible, printableLine } from './visible.ts';

it('a text has something to see where at least one character is drawn', () => {
  expect(['a', ' a ', '0', '木', '🙂', '\u202Ea'].filter((text) => !hasVisible(text))).toEqual([]);
});

it('spaces and characters that are drawn as nothing are not seen', () => {
  // A no-break space, U+202E, a zero-width space, the filler of Hangul, the empty pattern of Braille.
  expect(['', ' ', '\t\n', '\u00A0', '\u202E', '\u200B', '\u3164', '\u2800'].filter(hasVisible)).toEqual([]);
});

it('somebody else’s text is one line without hidden characters, cut between characters', () => {
  expect(printableLine(' a\n\t\u202Eb\u200B ')).toBe('a b');
  expect(printableLine('abc', 3)).toBe('abc');
  expect(printableLine('abcd', 3)).toBe('abc…');
  expect(printableLine('ab🙂', 3)).toBe('ab…');
  expect(printableLine('a🙂b', 3)).toBe('a🙂…');
  expect(printableLine('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`);
  expect(printableLine('x'.repeat(200))).toBe('x'.repeat(200));
});
