import { hasVisible } from '../../domain/visible.ts';
import { rejected, type Rejected } from '../rejected.ts';

const MAX_NAME_LENGTH = 100;

/**
 * Characters that change the direction of the text after them, even beyond the name: embeddings, overrides and
 * isolates.
 */
const TURNS_TEXT = /[\u202A-\u202E\u2066-\u2069]/;

/**
 * Checks the name of a project, key or passkey: 1 to 100 characters, one of them visible, none that controls a
 * terminal, begins a line or changes the direction of text.
 */
export function checkName(name: string): Rejected | null {
  const trimmed = name.trim();
  const fine =
    hasVisible(trimmed) &&
    trimmed.length <= MAX_NAME_LENGTH &&
    !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(trimmed) &&
    trimmed.isWellFormed();
  if (!fine) return rejected('name_length', { param: 'name', max: MAX_NAME_LENGTH });
  return TURNS_TEXT.test(trimmed) ? rejected('name_direction', { param: 'name' }) : null;
}
