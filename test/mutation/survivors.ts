import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, type Mutant } from './instrument.ts';

/** Why nobody could notice this change of a line, wherever it is in the line. */
export interface Explanation {
  readonly file: string;
  /** The line on which the change begins, without leading and trailing space. */
  readonly line: string;
  readonly becomes: readonly string[];
  readonly why: string;
}

export const EXPLANATIONS = JSON.parse(
  readFileSync(path.join(ROOT, 'test/mutation/survivors.json'), 'utf8'),
) as readonly Explanation[];

/** A mutant's change in words, and why nobody could notice it if `survivors.json` says so. */
export function describeMutant({ fileName, location, replacement }: Mutant) {
  const { start } = location;
  const line = (readFileSync(path.join(ROOT, fileName), 'utf8').split('\n')[start.line] ?? '').trim();
  const becomes = replacement.replaceAll(/\s+/g, ' ');
  const explanation = EXPLANATIONS.find(
    (one) => one.file === fileName && one.line === line && one.becomes.includes(becomes),
  );
  const text = `${fileName}:${start.line + 1}:${start.column + 1}: ${line}\n    in part becomes: ${becomes}`;
  return { text, explanation };
}
