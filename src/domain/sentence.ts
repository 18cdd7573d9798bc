import type forbidden from '../../texts/refusals/en/forbidden.json';
import type malformed from '../../texts/refusals/en/malformed.json';
import type refused from '../../texts/refusals/en/refused.json';
import type { TextValues } from './refusal-values.ts';

/** A sentence of `texts/refusals/` by its code, with its values. */
export interface Sentence {
  readonly code: InputCode;
  readonly values: SentenceValues;
}
/** A value may be a sentence itself, such as a way out that several sentences share, or several of which one holds. */
export type SentenceValues = Readonly<Record<string, string | number | Sentence | readonly Sentence[]>>;

/** The outcome of a check that a value does not pass. The rooms that check values cannot read texts. */
export interface Invalid {
  readonly kind: 'invalid';
  readonly fault: Sentence;
}

type InputCode = keyof typeof forbidden | keyof typeof malformed | keyof typeof refused;
/** The names of the values in a code's text. */
export type Places<Code> = Code extends keyof TextValues ? TextValues[Code] : never;
type Given<Code> = [Places<Code>] extends [never]
  ? []
  : [values: Readonly<Record<Places<Code>, SentenceValues[string]>>];

/** A sentence, with a value for each place in its text. */
export function sentence<Code extends InputCode>(code: Code, ...[values]: Given<Code>): Sentence {
  return { code, values: { ...values } };
}

export function invalid<Code extends InputCode>(code: Code, ...values: Given<Code>): Invalid {
  return { kind: 'invalid', fault: sentence(code, ...values) };
}
