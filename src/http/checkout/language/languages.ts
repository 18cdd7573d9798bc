import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createLocale, type Locale, type Texts } from './locale.ts';

/** Each file is a language, named by its code: a new file is all that a new language takes. */
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
 * `asked` is the code in the address bar and wins; otherwise the browser's list in its order of preference; otherwise
 * English.
 */
export function chooseLanguage(asked: unknown, acceptLanguage: string | undefined): Locale {
  const named = typeof asked === 'string' ? languageOf(asked) : null;
  return named ?? preferred(acceptLanguage ?? '');
}

/** Browsers of one language send the same few headers. */
const MAX_KEPT = 500;
const MAX_KEPT_LENGTH = 200;
const kept = new Map<string, Locale>();

function preferred(header: string): Locale {
  let known = kept.get(header);
  if (known === undefined) {
    known = firstOf(header) ?? ENGLISH;
    if (kept.size >= MAX_KEPT) kept.clear();
    if (header.length <= MAX_KEPT_LENGTH) kept.set(header, known);
  }
  return known;
}

/** `pt-BR` is served by `pt`. */
function languageOf(tag: string): Locale | null {
  return LANGUAGES.get(tag.trim().toLowerCase().split('-')[0] ?? '') ?? null;
}

/** The first available language of `da, de-AT;q=0.8, en;q=0.5` (RFC 9110, 12.5.4); `q=0` means never. */
function firstOf(header: string): Locale | null {
  const ranges = header.split(',').map((range) => {
    const [tag = '', ...parameters] = range.split(';');
    const quality = parameters.map((text) => /^\s*q=([\d.]+)\s*$/i.exec(text)?.[1]).find((text) => text !== undefined);
    return { locale: languageOf(tag), quality: quality === undefined ? 1 : Number(quality) };
  });
  const usable = ranges.filter(({ locale, quality }) => locale !== null && quality > 0);
  return usable.toSorted((a, b) => b.quality - a.quality)[0]?.locale ?? null;
}
