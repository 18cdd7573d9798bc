/**
 * Passes on the first call, then at most one in `restMs`, with how many calls there were since the last one that was passed on,
 * itself among them: what fails again and again is told again now and then.
 */
export function atMostEvery<Told>(
  restMs: number,
  tell: (told: Told, times: number) => void,
  now: () => number = () => performance.now(),
): (told: Told) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  let times = 0;
  return (told) => {
    times += 1;
    if (now() - toldAt < restMs) return;
    tell(told, times);
    toldAt = now();
    times = 0;
  };
}
