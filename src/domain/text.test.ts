import { describe, expect, it } from 'vitest';
import { fill, languageName, plural } from './text.ts';

describe('a text', () => {
  it('gets its values wherever they are named, as text', () => {
    expect(fill('{a} and {b}, {a}', { a: 1, b: '{a}' })).toBe('1 and {a}, 1');
    expect(fill('{a}', { a: 0 })).toBe('0');
  });

  it('keeps a placeholder that has no value', () => {
    expect(fill('{name}: {a}', { a: '' })).toBe('{name}: ');
  });
});

it('a language is named as it names itself, with a capital letter', () => {
  expect(['en', 'pl', 'tr', 'zh', 'ar'].map(languageName)).toEqual(['English', 'Polski', 'Türkçe', '中文', 'العربية']);
});

describe('the plural of a text', () => {
  const polish = { one: '{count} plik', few: '{count} pliki', many: '{count} plików', other: '{count} pliku' };

  it('has the form that the language has for the count', () => {
    expect([1, 3, 5, 22, '1.5'].map((count) => fill(plural(polish, count, 'pl'), { count }))).toEqual([
      '1 plik',
      '3 pliki',
      '5 plików',
      '22 pliki',
      '1.5 pliku',
    ]);
  });

  it('is the text itself where it has no forms, and empty where it lacks one', () => {
    expect(plural('{count} new', 1, 'en')).toBe('{count} new');
    expect(plural({ one: 'one' }, 2, 'en')).toBe('');
  });
});
