const MEMO_SIZE = 16;
const memoTimes: number[] = Array<number>(MEMO_SIZE).fill(NaN);
const memoTexts: string[] = Array<string>(MEMO_SIZE).fill('');

/**
 * ISO 8601 in UTC with milliseconds. A payment contains each of its times several times over, so the latest results are
 * cached.
 */
export function isoTime(at: number): string {
  // By the second: lifetimes are whole seconds, so a payment's times differ there and not in the milliseconds.
  const slot = Math.floor(at / 1000) & (MEMO_SIZE - 1);
  if (memoTimes[slot] !== at) {
    memoTimes[slot] = at;
    memoTexts[slot] = new Date(at).toISOString();
  }
  return memoTexts[slot] ?? '';
}

export function isoTimeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}
