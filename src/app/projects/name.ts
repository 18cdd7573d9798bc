import { hasVisible } from '../../domain/visible.ts';
import { malformed, type Rejected } from '../rejected.ts';

const MAX_NAME_LENGTH = 100;

/** A name of a project, key or passkey: 1 to 100 characters, one of them visible, no control characters. */
export function checkName(name: string, option: string): Rejected | null {
  const trimmed = name.trim();
  const fine =
    hasVisible(trimmed) && trimmed.length <= MAX_NAME_LENGTH && !/\p{Cc}/u.test(trimmed) && trimmed.isWellFormed();
  return fine
    ? null
    : malformed(`${option} must have 1 to ${MAX_NAME_LENGTH} characters on one line, and one of them must be visible.`);
}
