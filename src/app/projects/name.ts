import { malformed, type Rejected } from '../rejected.ts';

const MAX_NAME_LENGTH = 100;
/** What people see: no space, and nothing that is drawn as none, such as U+202E or the empty pattern of Braille. */
const VISIBLE = /[^\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** A name of a project, key or passkey: 1 to 100 characters, one of them visible, no control characters. */
export function checkName(name: string, option: string): Rejected | null {
  const trimmed = name.trim();
  const fine =
    VISIBLE.test(trimmed) && trimmed.length <= MAX_NAME_LENGTH && !/\p{Cc}/u.test(trimmed) && trimmed.isWellFormed();
  return fine
    ? null
    : malformed(`${option} must have 1 to ${MAX_NAME_LENGTH} characters on one line, and one of them must be visible.`);
}
