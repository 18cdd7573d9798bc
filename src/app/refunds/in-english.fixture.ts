import type { Sentence } from '../../domain/sentence.ts';
import { refusalText } from '../rejected.ts';

/** A value whose sentences are texts. */
export type InEnglish<Value> = Value extends Sentence
  ? string
  : Value extends object
    ? { [Name in keyof Value]: InEnglish<Value[Name]> }
    : Value;

/** Turns the sentences in plain values, such as the instructions of a refund, into the English that commands print. */
export function inEnglish<Value>(value: Value): InEnglish<Value> {
  return texts(value) as InEnglish<Value>;
}

function texts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(texts);
  if (typeof value !== 'object' || value === null) return value;
  if ('code' in value && 'values' in value) return refusalText(value as Sentence);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, texts(one)]));
}
