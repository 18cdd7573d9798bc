import { malformed, type Rejected } from '../rejected.ts';

const MAX_NAME_LENGTH = 100;

/** A name of a project or key: 1 to 100 characters, no control characters. */
export function checkName(name: string, option: string): Rejected | null {
  const trimmed = name.trim();
  const fine =
    trimmed !== '' && trimmed.length <= MAX_NAME_LENGTH && !/\p{Cc}/u.test(trimmed) && trimmed.isWellFormed();
  return fine ? null : malformed(`${option} must have 1 to ${MAX_NAME_LENGTH} characters on one line.`);
}
