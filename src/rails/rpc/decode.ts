/** A node's answer that does not have the form its protocol specifies. The message contains no part of the answer. */
export class MalformedAnswerError extends Error {
  override readonly name = 'MalformedAnswerError';

  constructor(what: string, rule: string) {
    super(`malformed answer: ${what} is not ${rule}`);
  }
}

export function decodeObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new MalformedAnswerError(what, 'an object');
  return value;
}

export function decodeArray(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new MalformedAnswerError(what, 'an array');
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
