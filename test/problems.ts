import type { ProblemDetails, Problems } from '../src/domain/problems.ts';

/** One report, with its details beside it. */
export type Noted = ProblemDetails & { readonly subject: string; readonly problem: unknown };

/** Keeps what is reported, each time that it is. */
export function noteProblems(
  onNoted: (noted: Noted) => void = () => {},
): Problems & { readonly noted: readonly Noted[] } {
  const noted: Noted[] = [];
  const note: Problems['failed'] = (subject, problem, details = {}) => {
    const one = { ...details, subject, problem } as Noted;
    noted.push(one);
    onNoted(one);
  };
  return { noted, failed: note, happened: note, works: () => {} };
}

/** No problem is expected: one fails the test. */
export const NO_PROBLEM: Problems = {
  failed: (subject, problem) => {
    throw problem instanceof Error ? problem : new Error(`${subject}: ${String(problem)}`);
  },
  happened: (subject, problem) => {
    throw problem instanceof Error ? problem : new Error(`${subject}: ${String(problem)}`);
  },
  works: () => {},
};
