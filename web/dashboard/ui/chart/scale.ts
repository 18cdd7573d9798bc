/** Each is three times a round number. */
const STEPS = [1.2, 1.5, 3, 4.5, 6, 7.5, 9, 12] as const;

/** A cent; smaller values count as 0. */
const MIN_VALUE = 0.01;

/** The end of a scale with three steps of round numbers: at least `max`, and never 0. */
export function niceTop(max: number): number {
  if (!(max >= MIN_VALUE)) return 3;
  const power = 10 ** Math.floor(Math.log10(max));
  return power * (STEPS.find((step) => step * power >= max) ?? 12);
}
