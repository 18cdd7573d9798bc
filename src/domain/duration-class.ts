const EXACT = 64;
const EXACT_BITS = 6;
const PARTS = 32;

/**
 * The class of a duration in milliseconds: each whole second below 64 s, then 32 classes from each power of two to the
 * next. The middle of a class differs from any duration in it by at most 1.6 %, or by half a second.
 */
export function durationClass(durationMs: number): number {
  const seconds = Math.max(0, Math.floor(durationMs / 1_000));
  if (seconds < EXACT) return seconds;
  const bits = Math.floor(Math.log2(seconds));
  return EXACT + (bits - EXACT_BITS) * PARTS + Math.floor(((seconds - 2 ** bits) * PARTS) / 2 ** bits);
}

/** The middle of a class, in milliseconds. */
export function classMiddleMs(of: number): number {
  if (of < EXACT) return of * 1_000 + 500;
  const above = of - EXACT;
  const bits = EXACT_BITS + Math.floor(above / PARTS);
  const width = 2 ** bits / PARTS;
  return (2 ** bits + (above % PARTS) * width + width / 2) * 1_000;
}

/** The middle of the class that contains the median of these durations, in milliseconds; null if there are none. */
export function medianMs(counts: ReadonlyMap<number, number>): number | null {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let passed = 0;
  for (const [of, count] of [...counts].toSorted(([a], [b]) => a - b)) {
    passed += count;
    if (passed * 2 >= total && count > 0) return classMiddleMs(of);
  }
  return null;
}
