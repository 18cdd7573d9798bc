import { createContext, useContext } from 'react';
import { formatsOf, type Formats } from './formats.ts';
import { en, type TextKey, type Texts } from './texts/en.ts';

/** The names of the `{values}` in the English text. */
type ValueNames<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ValueNames<Rest>
  : never;
/** Texts without values take no second argument. */
type Given<Key extends TextKey> = [ValueNames<(typeof en)[Key]>] extends [never]
  ? []
  : [Readonly<Record<ValueNames<(typeof en)[Key]>, string | number>>];

/** Returns a text in the person's language, with values filled in. */
export type Translate = <Key extends TextKey>(key: Key, ...values: Given<Key>) => string;

/** A language's texts, and its formats of money and times in the person's time zone. */
export interface Locale extends Formats {
  readonly code: LanguageCode;
  readonly t: Translate;
}

/** The languages' own names. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type LanguageCode = keyof typeof LANGUAGES;

const LOADERS: Readonly<Record<LanguageCode, () => Promise<Texts>>> = {
  // Part of the first script, because most people need it.
  en: () => Promise.resolve(en),
  de: async () => (await import('./texts/de.ts')).de,
};

const CHOICE = 'cointill.language';

/** The language chosen on this device, otherwise the first of the browser's that is available. */
export function chosenLanguage(): LanguageCode {
  const wished = [readChoice(), ...navigator.languages.map((tag) => tag.split('-')[0])];
  return wished.find((code): code is LanguageCode => typeof code === 'string' && isLanguage(code)) ?? 'en';
}

/** Stores the choice on this device. It applies from the next load. */
export function chooseLanguage(code: LanguageCode): void {
  try {
    localStorage.setItem(CHOICE, code);
  } catch {
    // Without storage, the browser's language applies again.
  }
}

export async function loadLocale(code: LanguageCode): Promise<Locale> {
  const texts = await LOADERS[code]();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { code, t: translatorOf(texts), ...formatsOf(code, navigator.languages, zone) };
}

/** Fills values into a text. A value is text, never markup. */
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

export function useLocale(): Locale {
  const locale = useContext(LocaleContext);
  if (locale === null) throw new Error('There is no locale around this component.');
  return locale;
}
