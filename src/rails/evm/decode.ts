import { MalformedAnswerError } from '../rpc/decode.ts';
import { NodeError, type RpcResult } from '../rpc/node.ts';

export function decodeQuantity(value: unknown, what: string): bigint {
  if (!isQuantity(value)) throw new MalformedAnswerError(what, 'a hex quantity');
  return BigInt(value);
}

export function isQuantity(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value);
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

/** Bytes of any length. */
export function decodeBytes(value: unknown, what: string): string {
  return decodeHex(value, /^0x(?:[0-9a-fA-F]{2})*$/, what, 'bytes of hex');
}

export function encodeNumber(number: number): string {
  return `0x${number.toString(16)}`;
}

/**
 * What a call of a batch came to. Throws its error as the node's fault, even where the node does not offer the method:
 * then another one is asked.
 */
export function resultOf(result: RpcResult | undefined): unknown {
  if (!result) throw new MalformedAnswerError('the batch', 'as long as what was asked');
  if (result.kind === 'error') throw new NodeError(result.error.message, result.code);
  return result.result;
}

/**
 * The node does not have the block that the call named by its hash. The nodes' words for it differ, and so do their
 * codes.
 */
export function isUnknownBlock(result: RpcResult): boolean {
  return (
    result.kind === 'error' &&
    /unknown block|(block|header|resource)\b.*\bnot found|(cannot|could not|can't) find (block|header)/i.test(
      result.error.message,
    )
  );
}

function decodeHex(value: unknown, form: RegExp, what: string, rule: string): string {
  if (typeof value !== 'string' || !form.test(value)) throw new MalformedAnswerError(what, rule);
  return value.toLowerCase();
}
