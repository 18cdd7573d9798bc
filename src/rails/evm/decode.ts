/** A node's answer that does not have the form of the Ethereum JSON-RPC specification. The message holds no part of the answer. */
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

export function decodeQuantity(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) {
    throw new MalformedAnswerError(what, 'a hex quantity');
  }
  return BigInt(value);
}

/** A height, a time in seconds, a chain id: a quantity that fits a safe integer. */
export function decodeNumber(value: unknown, what: string): number {
  const number = Number(decodeQuantity(value, what));
  if (!Number.isSafeInteger(number)) throw new MalformedAnswerError(what, 'a number below 2^53');
  return number;
}

/** 32 bytes, given back in lower case. */
export function decodeHash(value: unknown, what: string): string {
  return decodeHex(value, /^0x[0-9a-fA-F]{64}$/, what, '32 bytes of hex');
}

/** 20 bytes, given back in lower case, as `matchingAddress` wants them. */
export function decodeAddress(value: unknown, what: string): string {
  return decodeHex(value, /^0x[0-9a-fA-F]{40}$/, what, '20 bytes of hex');
}

export function encodeNumber(number: number): string {
  return `0x${number.toString(16)}`;
}

function decodeHex(value: unknown, form: RegExp, what: string, rule: string): string {
  if (typeof value !== 'string' || !form.test(value)) throw new MalformedAnswerError(what, rule);
  return value.toLowerCase();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
