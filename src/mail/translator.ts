import { readFileSync } from 'node:fs';
import path from 'node:path';
import type en from '../../texts/mails/en.json';
import { MAIL_LANGUAGES, type MailLanguage } from '../domain/notification.ts';
import { fill, plural, type Text, type TextValues } from '../domain/text.ts';
import { printableLine } from '../domain/visible.ts';

const FOLDER = path.join(import.meta.dirname, '../../texts/mails');
export type TextKey = keyof typeof en;
type Texts = Readonly<Record<TextKey, Text>>;
/** Read once, at start; `scripts/check-texts.ts` compares each language with English. */
const TEXTS = Object.fromEntries(
  MAIL_LANGUAGES.map((code) => [code, JSON.parse(readFileSync(path.join(FOLDER, `${code}.json`), 'utf8'))]),
) as Readonly<Record<MailLanguage, Texts>>;

/** Fills values into a text, each as one visible line. A value is text, never markup. */
export type Translate = (key: TextKey, values?: TextValues) => string;

/** The texts of mails in a language. */
export function translator(language: MailLanguage): Translate {
  return (key, values = {}) => {
    const lines = Object.entries(values).map(([name, value]) => [name, printableLine(String(value))]);
    return fill(plural(TEXTS[language][key], values['count'], language), Object.fromEntries(lines));
  };
}
