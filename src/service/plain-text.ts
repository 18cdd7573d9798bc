/**
 * Replaces control and formatting characters, so that text from customers, merchants, nodes and other programs neither
 * controls the terminal nor adds lines.
 */
export function clean(line: string): string {
  return line.replaceAll(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
}

const SECOND_MS = 1_000;
const UNITS = [
  ['d', 24 * 60 * 60_000],
  ['h', 60 * 60_000],
  ['m', 60_000],
  ['s', SECOND_MS],
] as const;

/** A duration in its two largest units, such as `4 m 12 s`; below a second in milliseconds. */
export function durationText(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  let rest = Math.round(ms / SECOND_MS) * SECOND_MS;
  const parts: string[] = [];
  for (const [unit, unitMs] of UNITS) {
    const count = Math.floor(rest / unitMs);
    if (count === 0 && parts.length === 0) continue;
    if (count > 0) parts.push(`${count} ${unit}`);
    rest -= count * unitMs;
    if (rest === 0 || parts.length === 2) break;
  }
  return parts.join(' ');
}
