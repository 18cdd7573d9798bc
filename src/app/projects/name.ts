import { hasVisible } from '../../domain/visible.ts';
import { rejected, type Rejected } from '../rejected.ts';

const MAX_NAME_LENGTH = 100;

/**
 * Characters that change the direction of the text after them, even beyond their own line: embeddings, overrides and
 * isolates.
 */
const TURNS_TEXT = /[\u202A-\u202E\u2066-\u2069]/;

/**
 * Checks the name of a project, key or passkey: 1 to 100 characters, one of them visible, none that controls a
 * terminal, begins a line or changes the direction of text.
 */
export function checkName(name: string): Rejected | null {
  if (!isLine(name, MAX_NAME_LENGTH)) return rejected('name_length', { param: 'name', max: MAX_NAME_LENGTH });
  return checkDirection(name, 'name');
}

/** Whether the text is one line of at most `max` characters, one of them visible, and none that controls a terminal. */
export function isLine(text: string, max: number): boolean {
  const trimmed = text.trim();
  return (
    hasVisible(trimmed) && trimmed.length <= max && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(trimmed) && trimmed.isWellFormed()
  );
}

/** Whether the text changes the direction of what stands after it. */
export const turnsText = (text: string): boolean => TURNS_TEXT.test(text);

export function checkDirection(text: string, param: string): Rejected | null {
  return turnsText(text) ? rejected('name_direction', { param }) : null;
}
