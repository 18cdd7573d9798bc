import { expect, it } from 'vitest';
import { hasVisible } from './visible.ts';

it('a text has something to see where at least one character is drawn', () => {
  expect(['a', ' a ', '0', '木', '🙂', '\u202Ea'].filter((text) => !hasVisible(text))).toEqual([]);
});

it('spaces and characters that are drawn as nothing are not seen', () => {
  // A no-break space, U+202E, a zero-width space, the filler of Hangul, the empty pattern of Braille.
  expect(['', ' ', '\t\n', '\u00A0', '\u202E', '\u200B', '\u3164', '\u2800'].filter(hasVisible)).toEqual([]);
});
