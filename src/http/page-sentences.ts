import { fillSentence, refusalTexts, type RefusalCode } from '../app/refusal-texts.ts';
import type { MailLanguage } from '../domain/notification.ts';
import type { SentenceValues } from '../domain/sentence.ts';

/** The sentence of a refusal for people on a page. `field` is the request's name of the value to blame. */
export function pageSentence(
  code: RefusalCode,
  field: string,
  values: SentenceValues,
): (language: MailLanguage) => string {
  return (language) => {
    const { sentences, waysOut, fields } = refusalTexts(language);
    const wayOut = waysOut[code];
    const text = wayOut === undefined ? sentences[code] : `${sentences[code]} ${wayOut}`;
    const param = fields[field] ?? field.replaceAll('_', ' ');
    return fillSentence(language, text, { ...values, param }, (value) => written(value, language));
  };
}

/** A number as the language writes it, with the decimals that it has; any other value as it is. */
function written(value: string | number, language: MailLanguage): string | number {
  const [number, , fraction = ''] = /^\d+(\.(\d+))?$/.exec(String(value)) ?? [];
  const format = new Intl.NumberFormat(language, { minimumFractionDigits: fraction.length });
  return number === undefined ? value : format.format(number as `${number}`);
}
