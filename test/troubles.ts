import type { TroubleDetails, Troubles } from '../src/domain/trouble.ts';

/** One report, with its details beside it. */
export type Noted = TroubleDetails & { readonly subject: string; readonly problem: unknown };

/** Keeps what is reported, each time that it is. */
export function noteTroubles(
  onNoted: (noted: Noted) => void = () => {},
): Troubles & { readonly noted: readonly Noted[] } {
  const noted: Noted[] = [];
  const note: Troubles['failed'] = (subject, problem, details = {}) => {
    const one = { ...details, subject, problem } as Noted;
    noted.push(one);
    onNoted(one);
  };
  return { noted, failed: note, happened: note, works: () => {} };
}

/** No trouble is expected: one fails the test. */
export const NO_TROUBLE: Troubles = {
  failed: (subject, problem) => {
    throw problem instanceof Error ? problem : new Error(`${subject}: ${String(problem)}`);
  },
  happened: (subject, problem) => {
    throw problem instanceof Error ? problem : new Error(`${subject}: ${String(problem)}`);
  },
  works: () => {},
};
