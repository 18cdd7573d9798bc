import { MalformedAnswerError } from '../rpc/decode.ts';
import { NodeError, type RpcResult } from '../rpc/node.ts';

export function decodeQuantity(value: unknown, what: string): bigint {
  if (!isQuantity(value)) throw new MalformedAnswerError(what, 'a hex quantity');
  return BigInt(value);
}

export function isQuantity(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value);
}

/** A height, a time in seconds or a chain id: a quantity that fits a safe integer. */
export function decodeNumber(value: unknown, what: string): number {
  const number = Number(decodeQuantity(value, what));
  if (!Number.isSafeInteger(number)) throw new MalformedAnswerError(what, 'a number below 2^53');
  return number;
}

/** 32 bytes, returned in lower case. */
export function decodeHash(value: unknown, what: string): string {
  return decodeHex(value, /^0x[0-9a-fA-F]{64}$/, what, '32 bytes of hex');
}

/** 20 bytes, returned in lower case, as `matchingAddress` does. */
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
 * The result of one call in a batch. Throws its error as the node's fault, even if the node does not support the
 * method: then another node is asked.
 */
export function resultOf(result: RpcResult | undefined): unknown {
  if (!result) throw new MalformedAnswerError('the batch', 'as long as the request');
  if (result.kind === 'error') throw new NodeError(result.error.message, result.code);
  return result.result;
}

/**
 * Whether the node does not have the block that the call named by hash. Nodes use different messages and codes for it.
 */
export function isUnknownBlock(result: RpcResult): boolean {
  return (
    result.kind === 'error' &&
    /unknown block|(block|header|resource)\b.*\bnot found|(cannot|could not|can't) find (block|header)/i.test(
      result.error.message,
    )
  );
}

/**
 * Whether the node says that it does not keep the state after the named block. Nodes use different messages for it; any
 * other error says nothing about the state.
 */
export function isStateGone(result: RpcResult): boolean {
  return (
    result.kind === 'error' &&
    /missing trie node|\b(state|data)\b.*\b(not|un)\s*(available|found)|\bno state\b|prun(ed|ing)|archive|histor(y|ical)/i.test(
      result.error.message,
    )
  );
}

function decodeHex(value: unknown, form: RegExp, what: string, rule: string): string {
  if (typeof value !== 'string' || !form.test(value)) throw new MalformedAnswerError(what, rule);
  return value.toLowerCase();
}
