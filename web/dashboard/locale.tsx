import { createContext, useContext } from 'react';
import { formatsOf, type Formats } from './formats.ts';
import { LANGUAGES, loadTexts, requireTexts, textOf, type LanguageCode } from './texts/load-texts.ts';
import type { TextPart, TextsOf } from './texts/en.ts';

/** The names of the `{values}` in the English text. */
type ValueNames<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | ValueNames<Rest> : never;
/** Texts without values take no second argument. */
type Given<Text> = [ValueNames<Text>] extends [never] ? [] : [Readonly<Record<ValueNames<Text>, string | number>>];

/** Returns a text in the person's language, with values filled in. */
export type Translate<Part extends TextPart = never> = <Key extends keyof TextsOf<Part>>(
  key: Key,
  ...values: Given<TextsOf<Part>[Key]>
) => string;

/** A language's texts, and its formats of money and times in the person's time zone. */
export interface Locale<Part extends TextPart = never> extends Formats {
  readonly code: LanguageCode;
  readonly t: Translate<Part>;
}

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

export async function loadLocale(code: LanguageCode): Promise<Locale<TextPart>> {
  await loadTexts(code, 'always');
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { code, t: translate, ...formatsOf(code, navigator.languages, zone) };
}

/** Fills values into a text. A value is text, never markup. */
function translate(key: string, values: Readonly<Record<string, string | number>> = {}): string {
  return textOf(key).replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
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

const LocaleContext = createContext<Locale<TextPart> | null>(null);

export const LocaleProvider = LocaleContext.Provider;

/** The texts that every page has, and those of the named parts, which `lazyPage` loads with the page. */
export function useLocale<Part extends TextPart = never>(...parts: readonly Part[]): Locale<Part> {
  const locale = useContext(LocaleContext);
  if (locale === null) throw new Error('There is no locale around this component.');
  requireTexts(parts);
  return locale;
}
