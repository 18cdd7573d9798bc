import type { Invalid, Places, RefusalCode, SentenceValues } from '../domain/sentence.ts';
import { faultOfCode, fillSentence, refusalTexts, type Fault } from './refusal-texts.ts';

/** A refused request of an operator: a sentence of `texts/refusals/`, to which each caller adds its own way out. */
export interface Rejected {
  readonly kind: 'rejected';
  readonly code: RefusalCode;
  /** The value to blame, under the use case's name for it. */
  readonly param?: string;
  /** The values in the code's text. */
  readonly values: SentenceValues;
}

type Details<Code extends RefusalCode> = Readonly<Record<Exclude<Places<Code>, 'param'>, SentenceValues[string]>> &
  ('param' extends Places<Code> ? { readonly param: string } : { readonly param?: string });

/** A refusal, with a value for each place in its text. */
export function rejected<Code extends RefusalCode>(
  code: Code,
  ...[details]: [Places<Code>] extends [never] ? [details?: Details<Code>] : [details: Details<Code>]
): Rejected {
  const { param, ...values } = { param: undefined, ...details };
  return { kind: 'rejected', code, ...(param === undefined ? {} : { param }), values };
}

/** The refusal of a value that did not pass a check below the use cases. */
export function rejectedBy({ fault }: Invalid, param: string): Rejected {
  return { kind: 'rejected', ...fault, param };
}

export function isRejected(outcome: { readonly kind: string }): outcome is Rejected {
  return outcome.kind === 'rejected';
}

export function noProject(id: string): Rejected {
  return rejected('no_project', { id });
}

/** The kind of fault in a request. */
export function faultOf({ code }: Rejected): Fault {
  return faultOfCode(code);
}

/** A refusal in English words, followed by the caller's way out; `name` is the caller's name of the value to blame. */
export function refusalText({ code, values }: Pick<Rejected, 'code' | 'values'>, name = '', wayOut?: string): string {
  const text = refusalTexts('en').sentences[code];
  return fillSentence('en', wayOut === undefined ? text : `${text} ${wayOut}`, { ...values, param: name });
}

/** Whether the text of a refusal begins with the name of the value to blame. */
export function namesParam({ code }: Rejected): boolean {
  return refusalTexts('en').sentences[code].includes('{param}');
}
