import type { FastifyRequest } from 'fastify';
import { isRejected, type Rejected } from '../../app/rejected.ts';
import type { RefusalCode, Sentence, SentenceValues } from '../../domain/sentence.ts';
import type { Refusal } from '../../domain/way-out.ts';
import { dashboardLanguage } from '../client.ts';
import { invalid, type RequestError } from '../errors.ts';
import { messageOf } from '../ways-out.ts';
import { pageSentence, refusalError, sentenceError } from '../page-sentences.ts';

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
