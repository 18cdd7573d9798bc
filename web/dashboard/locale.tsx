import { createContext, useContext } from 'react';
import { MAIL_LANGUAGES, type MailLanguage } from '../../src/domain/notification.ts';
import { fill, plural, type TextValues } from '../../src/domain/text.ts';
import { formatsOf, type Formats } from './formats.ts';
import { loadTexts, requireTexts, textOf } from './texts/load-texts.ts';
import type { Given, TextKey, TextPart } from './texts/parts.ts';

/** Returns a text in the person's language, with values filled in. */
export type Translate<Part extends TextPart = never> = <Key extends TextKey<Part>>(
  key: Key,
  ...values: Given<Key>
) => string;

/** A language's texts, and its formats of money and times in the person's time zone. */
export interface Locale<Part extends TextPart = never> extends Formats {
  readonly code: MailLanguage;
  readonly t: Translate<Part>;
}

const CHOICE = 'cointill.language';

/** The language chosen on this device, otherwise the first of the browser's that is available. */
export function chosenLanguage(): MailLanguage {
  const wished = [readChoice(), ...navigator.languages.map((tag) => tag.split('-')[0])];
  return wished.find((code): code is MailLanguage => typeof code === 'string' && isLanguage(code)) ?? 'en';
}

/** Stores the choice on this device. It applies from the next load. */
export function chooseLanguage(code: MailLanguage): void {
  try {
    localStorage.setItem(CHOICE, code);
  } catch {
    // Without storage, the browser's language applies again.
  }
}

export async function loadLocale(code: MailLanguage): Promise<Locale<TextPart>> {
  await loadTexts(code, 'common');
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const formats = formatsOf(code, navigator.languages, zone);
  // A value is text, never markup.
  const t = (key: string, values: TextValues = {}): string => {
    const count = values['count'];
    const shown = typeof count === 'number' ? { ...values, count: formats.number(count) } : values;
    return fill(plural(textOf(key), count, code), shown);
  };
  return { code, t, ...formats };
}

function isLanguage(code: string): code is MailLanguage {
  return MAIL_LANGUAGES.some((language) => language === code);
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
