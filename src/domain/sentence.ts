import type conflict from '../../texts/refusals/en/conflict.json';
import type forbidden from '../../texts/refusals/en/forbidden.json';
import type malformed from '../../texts/refusals/en/malformed.json';
import type missing from '../../texts/refusals/en/missing.json';
import type refused from '../../texts/refusals/en/refused.json';
import type signing from '../../texts/refusals/en/signing.json';
import type { TextValues } from './refusal-values.ts';

/** A sentence of `texts/refusals/` by its code, with its values. */
export interface Sentence {
  readonly code: RefusalCode;
  readonly values: SentenceValues;
}
/** A value may be a sentence itself, such as a way out that several sentences share, or several of which one holds. */
export type SentenceValues = Readonly<Record<string, string | number | Sentence | readonly Sentence[]>>;

/** The outcome of a check that a value does not pass. The rooms that check values cannot read texts. */
export interface Invalid {
  readonly kind: 'invalid';
  readonly fault: Sentence;
}

/** Why a request is refused: a file of sentences each, by code. */
export interface Sentences {
  /** The value breaks its own rule, regardless of stored data. */
  readonly malformed: typeof malformed;
  readonly missing: typeof missing;
  /** Somebody else has changed the record, or its state does not allow the request. */
  readonly conflict: typeof conflict;
  /** The person's role does not allow the request. */
  readonly forbidden: typeof forbidden;
  /** The request is refused for another reason. */
  readonly refused: typeof refused;
  /** Why a refund is not signed or sent, and warnings before that. */
  readonly signing: typeof signing;
}
export type RefusalCode = { [kind in keyof Sentences]: keyof Sentences[kind] }[keyof Sentences];
/** The names of the values in a code's text. */
export type Places<Code> = Code extends keyof TextValues ? TextValues[Code] : never;
type Given<Code> = [Places<Code>] extends [never]
  ? []
  : [values: Readonly<Record<Places<Code>, SentenceValues[string]>>];

/** A sentence, with a value for each place in its text. */
export function sentence<Code extends RefusalCode>(code: Code, ...[values]: Given<Code>): Sentence {
  return { code, values: { ...values } };
}

/** Sentences one after the other. */
export function inARow(sentences: readonly Sentence[]): Sentence {
  return sentences.reduce((first, next) => sentence('and_then', { first, next }));
}

export function invalid<Code extends RefusalCode>(code: Code, ...values: Given<Code>): Invalid {
  return { kind: 'invalid', fault: sentence(code, ...values) };
}
