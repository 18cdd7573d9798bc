import { refusalTexts, type RefusalCode } from '../app/refusal-texts.ts';
import type { MailLanguage } from '../domain/notification.ts';
import { fill, type TextValues } from '../domain/text.ts';

/** The sentence of a refusal for people on a page. `field` is the request's name of the value to blame. */
export function pageSentence(code: RefusalCode, field: string, values: TextValues): (language: MailLanguage) => string {
  return (language) => {
    const { sentences, waysOut, fields } = refusalTexts(language);
    const wayOut = waysOut[code];
    const text = wayOut === undefined ? sentences[code] : `${sentences[code]} ${wayOut}`;
    return fill(text, { ...written(values, language), param: fields[field] ?? field.replaceAll('_', ' ') });
  };
}

/** Numbers as the language writes them, with the decimals that they have. */
function written(values: TextValues, language: MailLanguage): TextValues {
  const entries = Object.entries(values).map(([name, value]) => {
    const [number, , fraction = ''] = /^\d+(\.(\d+))?$/.exec(String(value)) ?? [];
    const format = new Intl.NumberFormat(language, { minimumFractionDigits: fraction.length });
    return [name, number === undefined ? value : format.format(number as `${number}`)] as const;
  });
  return Object.fromEntries(entries);
}
