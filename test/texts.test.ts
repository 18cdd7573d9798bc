import { globSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { languageFaults, textFaults } from '../scripts/check-texts.ts';
import { MAIL_LANGUAGES } from '../src/domain/notification.ts';

it('every language has the texts of English, with their values and their emphasis', () => {
  expect(textFaults()).toEqual([]);
});

it.each(['dashboard', 'mails', 'refusals'])(
  'the languages that people choose are those that there are: %s',
  (folder) => {
    const found = globSync(`texts/${folder}/*`, { cwd: path.join(import.meta.dirname, '..') });
    expect(found.map((name) => path.basename(name, '.json')).toSorted()).toEqual(MAIL_LANGUAGES.toSorted());
  },
);

describe('the texts of a language are refused', () => {
  const english = {
    pay: 'Pay <b>{amount}</b> to {shop}',
    files: { one: '{count} file', other: '{count} files' },
    news: '{count} new',
  };
  const polish = {
    pay: 'Zapłać <b>{amount}</b> do {shop}',
    files: { one: 'plik', few: '{count} pliki', many: '{count} plików', other: '{count} pliku' },
    news: { one: '{count} nowy', few: '{count} nowe', many: '{count} nowych', other: '{count} nowego' },
  };
  const { other: _, ...some } = polish.files;

  it('in no other case', () => {
    expect(languageFaults(english, english, 'en')).toEqual([]);
    expect(languageFaults(english, polish, 'pl')).toEqual([]);
  });

  it.each([
    ['a text is missing', { pay: undefined }, 'pay is missing.'],
    ['a text is unknown', { payed: 'a' }, 'payed is no text of the English ones.'],
    ['a text is empty', { pay: '' }, 'pay is empty, or has spaces around it.'],
    ['a text has spaces around it', { pay: ' <b>{amount}</b> {shop}' }, 'pay is empty, or has spaces around it.'],
    ['a value is missing', { pay: '<b>{amount}</b>' }, 'pay must have the values of English: {amount}, {shop}.'],
    ['a value is misspelt', { news: '{cuont}' }, 'news must have the values of English: {count}.'],
    ['a value lacks a brace', { news: '{count} {' }, 'news has markup, or a brace of its own.'],
    ['the emphasis is missing', { pay: '{amount} {shop}' }, 'pay must have the emphasis of English.'],
    ['a text has markup', { news: '{count} <i>new</i>' }, 'news has markup, or a brace of its own.'],
    ['a text has a character reference', { news: '{count}&nbsp;new' }, 'news has markup, or a brace of its own.'],
    ['a plural form is missing', { files: some }, 'files lacks the plural form “other”.'],
    [
      'a plural form is one too many',
      { files: { ...polish.files, two: '{count}' } },
      'files has “two”, a plural form of other languages.',
    ],
    [
      'a plural form lacks its value',
      { news: { ...polish.news, few: '{n}' } },
      'news must have the values of English: none.',
    ],
    [
      'a text without a count has plural forms',
      { pay: polish.files },
      'pay has plural forms, and no {count} that they could follow.',
    ],
  ])('where %s', (_what, change, fault) => {
    const texts = JSON.parse(JSON.stringify({ ...polish, ...change }));
    const faults = languageFaults(english, texts, 'pl');
    expect(faults).toContain(fault);
  });

  it('where Intl knows no such language', () => {
    expect(languageFaults(english, polish, 'qq')).toEqual(['Intl knows no language qq.']);
  });
});
