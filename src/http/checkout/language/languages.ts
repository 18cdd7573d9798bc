import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { acceptedLanguages, languageCode } from '../../client.ts';
import { createLocale, type Locale, type Texts } from './locale.ts';

/** Each file is a language, named by its code: adding a language takes only a new file. */
const FOLDER = path.join(import.meta.dirname, '../../../../texts/checkout');

/** The language for visitors whose languages are not available. */
export const ENGLISH: Locale = createLocale('en', textsOf('en.json'));

/** Every language of the pages by its code, ordered by their own names. Read once, at start. */
export const LANGUAGES: ReadonlyMap<string, Locale> = new Map(
  readdirSync(FOLDER)
    .map((file) => (file === 'en.json' ? ENGLISH : createLocale(path.basename(file, '.json'), textsOf(file))))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
    .map((locale) => [locale.code, locale]),
);

function textsOf(file: string): Texts {
  return JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8'));
}

/**
 * Chooses the language. `asked` is the code in the address bar and wins; otherwise the browser's list in its order of
 * preference; otherwise English.
 */
export function chooseLanguage(asked: unknown, acceptLanguage: string | undefined): Locale {
  const named = typeof asked === 'string' ? LANGUAGES.get(languageCode(asked)) : undefined;
  return named ?? preferred(acceptLanguage ?? '');
}

/** Browsers of one language send the same few headers. */
const MAX_KEPT = 500;
const MAX_KEPT_LENGTH = 200;
const kept = new Map<string, Locale>();

function preferred(header: string): Locale {
  const before = kept.get(header);
  if (before !== undefined) return before;
  const code = acceptedLanguages(header).find((one) => LANGUAGES.has(one)) ?? 'en';
  const locale = LANGUAGES.get(code) ?? ENGLISH;
  if (kept.size >= MAX_KEPT) kept.clear();
  if (header.length <= MAX_KEPT_LENGTH) kept.set(header, locale);
  return locale;
}
