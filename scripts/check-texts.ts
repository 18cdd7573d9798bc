import { globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Text } from '../src/domain/text.ts';

const ROOT = path.join(import.meta.dirname, '..');
const NAME = /\{\w+\}/g;
/** Emphasis in texts of the payment page. */
const MARK = /<\/?b>/g;

/** Texts by their keys. */
export type Texts = Readonly<Record<string, Text>>;

/** Returns the faults of the languages in `texts/`, one sentence each. Throws if a file is no JSON. */
export function textFaults(): readonly string[] {
  return globSync('texts/*/*', { cwd: ROOT }).flatMap((place) => {
    const english = path.join(path.dirname(place), `en${path.extname(place)}`);
    const faults = languageFaults(textsIn(english), textsIn(place), path.basename(place, '.json'));
    return faults.map((fault) => `${place}: ${fault}`);
  });
}

/** The texts of a language: one file, or a folder of files, whose names prefix the keys. */
export function textsIn(place: string): Texts {
  if (!place.endsWith('.json')) {
    const files = readdirSync(path.join(ROOT, place)).map((file) => [path.basename(file, '.json'), file] as const);
    const texts = files.map(([part, file]) =>
      Object.entries(textsIn(path.join(place, file))).map(([key, text]) => [`${part}.${key}`, text] as const),
    );
    return Object.fromEntries(texts.flat());
  }
  try {
    return JSON.parse(readFileSync(path.join(ROOT, place), 'utf8'));
  } catch (error) {
    throw new Error(`${place} cannot be read: ${String(error)}`, { cause: error });
  }
}

/** Returns the faults of a language's texts, compared with the English ones, which may be the same texts. */
export function languageFaults(english: Texts, texts: Texts, language: string): readonly string[] {
  if (Intl.PluralRules.supportedLocalesOf(language).length === 0) return [`Intl knows no language ${language}.`];
  const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  const missing = Object.keys(english).filter((key) => !(key in texts));
  const faults = Object.entries(texts).flatMap(([key, text]) => {
    const model = english[key];
    const found = model === undefined ? ['is no text of the English ones'] : faultsOf(model, text, forms);
    return found.map((fault) => `${key} ${fault}.`);
  });
  return [...missing.map((key) => `${key} is missing.`), ...faults];
}

function faultsOf(english: Text, text: Text, forms: readonly string[]): readonly string[] {
  const names = namesIn(english);
  const marks = found(english, MARK);
  if (typeof text === 'string') return stringFaults(text, names, marks);
  if (!names.includes('{count}')) return ['has plural forms, and no {count} that they could follow'];
  const given = Object.keys(text);
  return [
    ...forms.filter((form) => !given.includes(form)).map((form) => `lacks the plural form “${form}”`),
    ...given.filter((form) => !forms.includes(form)).map((form) => `has “${form}”, a plural form of other languages`),
    // A form may be without the number, such as “an event”.
    ...Object.values(text).flatMap((form) =>
      stringFaults(form, form.includes('{count}') ? names : names.filter((name) => name !== '{count}'), marks),
    ),
  ];
}

function stringFaults(text: string, names: readonly string[], marks: readonly string[]): readonly string[] {
  return [
    ...(text !== '' && text.trim() === text ? [] : ['is empty, or has spaces around it']),
    ...(namesIn(text).join() === names.join()
      ? []
      : [`must have the values of English: ${names.join(', ') || 'none'}`]),
    ...(found(text, MARK).join() === marks.join() ? [] : ['must have the emphasis of English']),
    ...(/&|<(?![\d…])|[{}]/.test(text.replaceAll(NAME, '').replaceAll(MARK, ''))
      ? ['has markup, or a brace of its own']
      : []),
  ];
}

/** The values of a text, such as `{amount}`, each once. */
export function namesIn(text: Text): readonly string[] {
  return found(text, NAME);
}

/** Each once. */
function found(text: Text, what: RegExp): readonly string[] {
  const whole = typeof text === 'string' ? text : Object.values(text).join(' ');
  return [...new Set(whole.match(what))].toSorted();
}

if (import.meta.main) {
  const faults = textFaults();
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}
