import type { FastifyRequest } from 'fastify';
import { faultOf, isRejected, type Rejected } from '../../app/rejected.ts';
import type { RefusalCode, Sentence, SentenceValues } from '../../domain/sentence.ts';
import type { Refusal } from '../../domain/way-out.ts';
import { dashboardLanguage } from '../client.ts';
import { invalid, RequestError, type ErrorType } from '../errors.ts';
import { messageOf } from '../ways-out.ts';
import { pageSentence, sentenceError } from '../page-sentences.ts';

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

/** Writes sentences in the language of the request's page. */
export function wordsFor(request: FastifyRequest): (sentence: Sentence) => string {
  const language = dashboardLanguage(request) ?? 'en';
  return ({ code, values }) => pageSentence(code, '', values)(language);
}

/** A bad field of the request, or a request that is bad as a whole, with the sentence of a code. */
export function badField(field: string | null, code: RefusalCode, values: SentenceValues): RequestError {
  return sentenceError('invalid_request_error', code, values, field);
}

/** The answer to a refused request; a refusal without a sentence is one that pages do not cause. */
export function refusedError(refusal: Refusal & { readonly sentence?: Rejected }, field: string | null): RequestError {
  const { sentence } = refusal;
  return sentence === undefined ? invalid(field, messageOf(refusal)) : badField(field, sentence.code, sentence.values);
}

/** The outcome if it is no refusal. @throws RequestError with the refusal */
export function done<Outcome extends { readonly kind: string }>(
  outcome: Outcome,
  field: string | null = null,
): Exclude<Outcome, Rejected> {
  if (isRejected(outcome)) throw refusalError(outcome, field);
  return outcome as Exclude<Outcome, Rejected>;
}
