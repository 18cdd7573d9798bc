/**
 * The time according to another source: at one moment it was between `earliest` and `latest`, in epoch milliseconds.
 */
export interface ClockReading {
  /** The name of the source, fit for messages. */
  readonly source: string;
  readonly earliest: number;
  /** Infinity if the source only proves that it is not earlier. */
  readonly latest: number;
  readonly weight: number;
}

/** How far a clock is ahead (negative: behind), and the sources that show it. */
export interface ClockOffset {
  readonly ms: number;
  readonly sources: readonly string[];
}

/** How far `at` is ahead of the range of a reading; negative: behind, 0: within it. */
function offBy({ earliest, latest }: ClockReading, at: number): number {
  return at > latest ? at - latest : Math.min(0, at - earliest);
}

/**
 * The least by which the clock that shows `at` is off, if by more than `limitMs`; null if the readings do not prove
 * that. They prove it if those that agree on the direction weigh at least `least`, and more than all others that could
 * contradict.
 */
export function clockOffset(
  readings: readonly ClockReading[],
  at: number,
  limitMs: number,
  least: number,
): ClockOffset | null {
  const judged = readings.map((reading) => ({ ...reading, off: offBy(reading, at) }));
  for (const sign of [1, -1]) {
    const wrong = judged.filter(({ off }) => off * sign > limitMs);
    const others = judged.filter((one) => !wrong.includes(one) && (one.off !== 0 || one.latest !== Infinity));
    const weight = weigh(wrong);
    if (weight < least || weight <= weigh(others)) continue;
    const ms = sign * Math.min(...wrong.map(({ off }) => Math.abs(off)));
    return { ms, sources: wrong.map(({ source }) => source) };
  }
  return null;
}

/** The weight of the readings to which `one` is nearer than `other` by more than `limitMs`. */
export function weightFor(readings: readonly ClockReading[], one: number, other: number, limitMs: number): number {
  return weigh(readings.filter((reading) => Math.abs(offBy(reading, other)) - Math.abs(offBy(reading, one)) > limitMs));
}

function weigh(readings: readonly ClockReading[]): number {
  return readings.reduce((sum, { weight }) => sum + weight, 0);
}
