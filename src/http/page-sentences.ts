import { faultOf, type Rejected } from '../app/rejected.ts';
import { fillSentence, refusalTexts } from '../app/refusal-texts.ts';
import type { MailLanguage } from '../domain/notification.ts';
import { refusalOf, type Action, type Role } from '../domain/role.ts';
import type { RefusalCode, SentenceValues } from '../domain/sentence.ts';
import { RequestError, type ErrorType } from './errors.ts';

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
    // A field of one of several entries, such as `items.2.price`, has the name of the same field of all.
    const own = field.replace(/^[a-z]+\.\d+\./, '');
    const param = fields[own] ?? own.replaceAll('_', ' ');
    return fillSentence(language, text, { ...values, param }, (value) => written(value, language));
  };
}

/** An answer with the sentence of a code; `field` is the request's name of the value to blame. */
export function sentenceError(
  type: ErrorType,
  code: RefusalCode,
  values: SentenceValues = {},
  field: string | null = null,
): RequestError {
  const inLanguage = pageSentence(code, field ?? '', values);
  return new RequestError(type, inLanguage('en'), { param: field, inLanguage });
}

/** The request fields whose names differ from the use case's. */
const FIELDS: Readonly<Record<string, string>> = {
  allowIps: 'values',
  allowOrigins: 'values',
  days: 'older_than_days',
  descriptor: 'source',
  spreadBasisPoints: 'spread',
  toleranceBasisPoints: 'tolerance',
  treasury: 'source',
  xpub: 'source',
};

const TYPES = {
  malformed: 'invalid_request_error',
  missing: 'not_found_error',
  conflict: 'conflict_error',
  forbidden: 'permission_error',
  refused: 'invalid_request_error',
  signing: 'invalid_request_error',
} as const satisfies Record<ReturnType<typeof faultOf>, ErrorType>;

/** The answer to a request that a use case refused; `field` is to blame if the refusal names no value. */
export function refusalError(refusal: Rejected, field: string | null = null): RequestError {
  const { code, param = '', values } = refusal;
  const ownField = FIELDS[param] ?? param.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const inLanguage = pageSentence(code, ownField, values);
  return new RequestError(TYPES[faultOf(refusal)], inLanguage('en'), {
    param: param === '' ? field : ownField,
    inLanguage,
  });
}

/** The answer to a person whose role does not permit the action. */
export function roleError(role: Role | null, action: Action): RequestError {
  const { code, values } = refusalOf(role, action);
  return sentenceError('permission_error', code, values);
}

/** A number as the language writes it, with the decimals that it has; any other value as it is. */
function written(value: string | number, language: MailLanguage): string | number {
  const [number, , fraction = ''] = /^\d+(\.(\d+))?$/.exec(String(value)) ?? [];
  const format = new Intl.NumberFormat(language, { minimumFractionDigits: fraction.length });
  return number === undefined ? value : format.format(number as `${number}`);
}
