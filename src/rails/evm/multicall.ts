import { MalformedAnswerError } from '../rpc/decode.ts';

/** Multicall3, at the same address on all chains that matter (https://www.multicall3.com/deployments). */
export const MULTICALL_ADDRESS = '0xca11bde05977b3631167028862be2a173976ca11';

const AGGREGATE3 = '82ad56cb';
const GET_ETH_BALANCE = '4d2301cc';
/**
 * Words (32 bytes) of one encoded call: target, allowFailure, offset and length of the data, 36 bytes of data padded to
 * two.
 */
const WORDS_PER_CALL = 6;
/** Words of one encoded result: success, offset and length of the data, the balance. */
const WORDS_PER_RESULT = 4;

/**
 * The call data of `aggregate3((address,bool,bytes)[])` that asks Multicall3 for the native balance of each address.
 * Encoded by hand because all calls have the same length: a general encoder is far more code.
 */
export function encodeBalanceCalls(addresses: readonly string[]): string {
  const offsets = addresses.map((_, i) => word((addresses.length + i * WORDS_PER_CALL) * 32));
  const calls = addresses.map((address) =>
    [
      MULTICALL_ADDRESS.slice(2).padStart(64, '0'),
      word(0),
      word(3 * 32),
      word(36),
      `${GET_ETH_BALANCE}${address.slice(2).padStart(64, '0')}`.padEnd(128, '0'),
    ].join(''),
  );
  return `0x${AGGREGATE3}${word(32)}${word(addresses.length)}${offsets.join('')}${calls.join('')}`;
}

/** The balances that `encodeBalanceCalls` asked for. Throws `MalformedAnswerError` for anything else. */
export function decodeBalances(answer: unknown, count: number): readonly bigint[] {
  const words = 2 + count + count * WORDS_PER_RESULT;
  if (typeof answer !== 'string' || !/^0x[0-9a-fA-F]*$/.test(answer) || answer.length !== 2 + words * 64) {
    throw new MalformedAnswerError('the balances', `${words} words of hex`);
  }
  const wordAt = (position: number): bigint => BigInt(`0x${answer.slice(2 + position * 64, 2 + (position + 1) * 64)}`);
  return Array.from({ length: count }, (_, i) => {
    const start = 2 + count + i * WORDS_PER_RESULT;
    if (wordAt(start) !== 1n || wordAt(start + 2) !== 32n) throw new MalformedAnswerError('a balance', 'one word');
    return wordAt(start + 3);
  });
}

function word(value: number): string {
  return value.toString(16).padStart(64, '0');
}
