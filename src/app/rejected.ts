import { fill } from '../domain/text.ts';
import { faultOfCode, refusalTexts, type Fault, type RefusalCode } from './refusal-texts.ts';
import type { TextValues } from './refusal-values.ts';

/** A refused request of an operator: a sentence of `texts/refusals/`, to which each caller adds its own way out. */
export interface Rejected {
  readonly kind: 'rejected';
  readonly code: RefusalCode;
  /** The value to blame, under the use case's name for it. */
  readonly param?: string;
  /** The values in the code's text. */
  readonly values: Readonly<Record<string, string | number>>;
}

type Places<Code extends RefusalCode> = Code extends keyof TextValues ? TextValues[Code] : never;
type Details<Code extends RefusalCode> = Readonly<Record<Exclude<Places<Code>, 'param'>, string | number>> &
  ('param' extends Places<Code> ? { readonly param: string } : { readonly param?: string });

/** A refusal, with a value for each place in its text. */
export function rejected<Code extends RefusalCode>(
  code: Code,
  ...[details]: [Places<Code>] extends [never] ? [details?: Details<Code>] : [details: Details<Code>]
): Rejected {
  const { param, ...values } = { param: undefined, ...details };
  return { kind: 'rejected', code, ...(param === undefined ? {} : { param }), values };
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
export function refusalText({ code, values }: Rejected, name: string, wayOut: string | undefined): string {
  const text = refusalTexts('en').sentences[code];
  return fill(wayOut === undefined ? text : `${text} ${wayOut}`, { ...values, param: name });
}

/** Whether the text of a refusal begins with the name of the value to blame. */
export function namesParam({ code }: Rejected): boolean {
  return refusalTexts('en').sentences[code].includes('{param}');
}
