import { createLocale, type Locale } from './locale.ts';
import { ar } from './texts/ar.ts';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import { es } from './texts/es.ts';
import { fr } from './texts/fr.ts';
import { it } from './texts/it.ts';
import { ja } from './texts/ja.ts';
import { nl } from './texts/nl.ts';
import { pl } from './texts/pl.ts';
import { pt } from './texts/pt.ts';
import { ru } from './texts/ru.ts';
import { tr } from './texts/tr.ts';
import { zh } from './texts/zh.ts';

/** The language for visitors whose languages are not available. */
export const ENGLISH: Locale = createLocale('en', 'English', 'ltr', en);

/** Every language of the pages by its code, ordered by their own names. */
export const LANGUAGES: ReadonlyMap<string, Locale> = new Map(
  [
    createLocale('de', 'Deutsch', 'ltr', de),
    ENGLISH,
    createLocale('es', 'Español', 'ltr', es),
    createLocale('fr', 'Français', 'ltr', fr),
    createLocale('it', 'Italiano', 'ltr', it),
    createLocale('nl', 'Nederlands', 'ltr', nl),
    createLocale('pl', 'Polski', 'ltr', pl),
    createLocale('pt', 'Português', 'ltr', pt),
    createLocale('tr', 'Türkçe', 'ltr', tr),
    createLocale('ru', 'Русский', 'ltr', ru),
    createLocale('ar', 'العربية', 'rtl', ar),
    createLocale('ja', '日本語', 'ltr', ja),
    createLocale('zh', '中文', 'ltr', zh),
  ].map((locale) => [locale.code, locale]),
);

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
