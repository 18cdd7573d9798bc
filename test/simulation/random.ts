import { createHash } from 'node:crypto';

/** Choices that follow from a seed alone: the same seed always chooses the same. */
export interface Random {
  /** A whole number from 0 up to, but without, `bound`. */
  below(bound: number): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  chance(percent: number): boolean;
  /** One of several; throws when there are none. */
  pick<T>(items: readonly T[]): T;
  /** One of several, each as likely as its weight. */
  weighted<T>(items: readonly (readonly [weight: number, item: T])[]): T;
  shuffled<T>(items: readonly T[]): readonly T[];
  bytes(length: number): Buffer;
}

const WORDS_A_BLOCK = 8;

/** The stream of SHA-256 over the seed and a counter, 32 bits at a time. */
export function createRandom(seed: string): Random {
  let block = Buffer.alloc(0);
  let blocks = 0;
  let used = WORDS_A_BLOCK;
  const word = (): number => {
    if (used === WORDS_A_BLOCK) {
      block = createHash('sha256').update(`${seed} ${blocks}`).digest();
      blocks += 1;
      used = 0;
    }
    used += 1;
    return block.readUInt32LE((used - 1) * 4);
  };
  const below = (bound: number): number => word() % bound;
  const pick = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new RangeError('There is nothing to choose from.');
    return items[below(items.length)] as T;
  };
  return {
    below,
    between: (low, high) => low + below(high - low + 1),
    chance: (percent) => below(100) < percent,
    pick,
    weighted: (items) => pick(items.flatMap(([weight, item]) => Array.from({ length: weight }, () => item))),
    shuffled: (items) => {
      const left = [...items];
      return items.map(() => left.splice(below(left.length), 1)).flat();
    },
    bytes: (length) => {
      const bytes = Buffer.alloc(length);
      for (let at = 0; at < length; at += 1) bytes[at] = word() & 0xff;
      return bytes;
    },
  };
}
