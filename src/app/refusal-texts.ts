import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MAIL_LANGUAGES, type MailLanguage } from '../domain/notification.ts';
import type { RefusalCode, Sentence, Sentences, SentenceValues } from '../domain/sentence.ts';
import { fill } from '../domain/text.ts';

const FOLDER = path.join(import.meta.dirname, '../../texts/refusals');

export type Fault = keyof Sentences;
interface LanguageTexts {
  readonly sentences: Readonly<Record<RefusalCode, string>>;
  readonly waysOut: Readonly<Partial<Record<RefusalCode, string>>>;
  readonly fields: Readonly<Partial<Record<string, string>>>;
}

const FAULTS = [
  'malformed',
  'missing',
  'conflict',
  'forbidden',
  'refused',
  'signing',
] as const satisfies readonly Fault[];

function read(language: MailLanguage, file: string): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(path.join(FOLDER, language, `${file}.json`), 'utf8'));
}

function readSentences(language: MailLanguage): LanguageTexts['sentences'] {
  return Object.assign({}, ...FAULTS.map((fault) => read(language, fault)));
}

/** Read once, at start; `scripts/check-texts.ts` compares each language with English. */
const TEXTS = Object.fromEntries(
  MAIL_LANGUAGES.map((language): [MailLanguage, LanguageTexts] => [
    language,
    {
      sentences: readSentences(language),
      waysOut: read(language, 'way-out'),
      fields: read(language, 'field'),
    },
  ]),
) as Readonly<Record<MailLanguage, LanguageTexts>>;

const FAULT_OF = Object.fromEntries(
  FAULTS.flatMap((fault) => Object.keys(read('en', fault)).map((code) => [code, fault])),
) as Readonly<Record<RefusalCode, Fault>>;

/** “owner, admin or developer”, without a comma before the last. */
const LISTS = {
  en: new Intl.ListFormat('en-GB', { type: 'disjunction' }),
  de: new Intl.ListFormat('de', { type: 'disjunction' }),
} as const satisfies Readonly<Record<MailLanguage, Intl.ListFormat>>;

export function faultOfCode(code: RefusalCode): Fault {
  return FAULT_OF[code];
}

export function refusalTexts(language: MailLanguage): LanguageTexts {
  return TEXTS[language];
}

/**
 * Fills values into a text of a language. Values that are sentences themselves are in the same language; `written`
 * gives the form of all others.
 */
export function fillSentence(
  language: MailLanguage,
  text: string,
  values: SentenceValues,
  written: (value: string | number) => string | number = (value) => value,
): string {
  const filled = (one: Sentence): string =>
    fillSentence(language, TEXTS[language].sentences[one.code], one.values, written);
  const inWords = Object.entries(values).map(([name, value]) => {
    if (typeof value !== 'object') return [name, written(value)] as const;
    return [name, 'code' in value ? filled(value) : LISTS[language].format(value.map(filled))] as const;
  });
  return fill(text, Object.fromEntries(inWords));
}
