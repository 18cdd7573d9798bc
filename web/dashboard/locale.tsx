import { createContext, useContext } from 'react';
import { formatsOf, type Formats } from './formats.ts';
import { en, type TextKey, type Texts } from './texts/en.ts';

/** The names of the `{values}` that a text asks for, read off the English one. */
type ValueNames<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ValueNames<Rest>
  : never;
/** No second argument for texts without values. */
type Given<Key extends TextKey> = [ValueNames<(typeof en)[Key]>] extends [never]
  ? []
  : [Readonly<Record<ValueNames<(typeof en)[Key]>, string | number>>];

/** A text in the person's language, with its values. */
export type Translate = <Key extends TextKey>(key: Key, ...values: Given<Key>) => string;

/** One language: its texts, and how it writes money and times, in the person's own zone. */
export interface Locale extends Formats {
  readonly code: LanguageCode;
  readonly t: Translate;
}

/** What each language calls itself. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type LanguageCode = keyof typeof LANGUAGES;

const LOADERS: Readonly<Record<LanguageCode, () => Promise<Texts>>> = {
  // Comes with the first script: most people read it, and it saves them a round trip.
  en: () => Promise.resolve(en),
  de: async () => (await import('./texts/de.ts')).de,
};

const CHOICE = 'cointill.language';

/** The language that was chosen on this device, else the first of the browser's that there is. */
export function chosenLanguage(): LanguageCode {
  const wished = [readChoice(), ...navigator.languages.map((tag) => tag.split('-')[0])];
  return wished.find((code): code is LanguageCode => typeof code === 'string' && isLanguage(code)) ?? 'en';
}

/** Keeps the choice on this device; it holds from the next load on. */
export function chooseLanguage(code: LanguageCode): void {
  try {
    localStorage.setItem(CHOICE, code);
  } catch {
    // A browser that keeps nothing asks again.
  }
}

export async function loadLocale(code: LanguageCode): Promise<Locale> {
  const texts = await LOADERS[code]();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { code, t: translatorOf(texts), ...formatsOf(code, navigator.languages, zone) };
}

/** Puts values into texts; a value is text, never markup. */
export function translatorOf(texts: Texts): Translate {
  return (key, ...given) => {
    const values: Readonly<Record<string, string | number>> = given[0] ?? {};
    return texts[key].replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
  };
}

function isLanguage(code: string): code is LanguageCode {
  return Object.hasOwn(LANGUAGES, code);
}

function readChoice(): string | null {
  try {
    return localStorage.getItem(CHOICE);
  } catch {
    return null;
  }
}

const LocaleContext = createContext<Locale | null>(null);

export const LocaleProvider = LocaleContext.Provider;

/** The person's language. */
export function useLocale(): Locale {
  const locale = useContext(LocaleContext);
  if (locale === null) throw new Error('There is no locale around this component.');
  return locale;
}
