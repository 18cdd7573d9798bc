import { readFileSync } from 'node:fs';
import path from 'node:path';
import { rejected, type Rejected } from '../rejected.ts';

/** Counted in code points, not bytes. */
export const MIN_PASSWORD = 12;

/**
 * Easily guessed passwords, one a line: common ones of at least 12 characters, and the 3,000 most common shorter ones,
 * which people lengthen by a year or an exclamation mark. From @zxcvbn-ts/language-common 4.1.3 (MIT).
 */
const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  readFileSync(path.join(import.meta.dirname, 'common-passwords.txt'), 'utf8')
    .trim()
    .split('\n'),
);

/** Sequences of the alphabet, the digits and keyboards, in both directions. */
const ROWS = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
].flatMap((row) => [row, Array.from(row).toReversed().join('')]);

/**
 * Why a password is refused, as a sentence; null if it is accepted. It must be long enough and hard to guess; there are
 * no rules about kinds of characters (NIST SP 800-63B, 3.1.1.2).
 */
export function passwordFault(password: string, email: string): Rejected | null {
  if (Array.from(password.normalize('NFKC')).length < MIN_PASSWORD) {
    return rejected('password_short', { param: 'password', min: MIN_PASSWORD });
  }
  return isGuessed(password.normalize('NFKC').toLowerCase(), email.toLowerCase())
    ? rejected('password_common', { param: 'password' })
    : null;
}

function isGuessed(password: string, email: string): boolean {
  const [name = '', domain = ''] = email.split('@');
  const stem = stemOf(password);
  const isCommon = (text: string): boolean => COMMON_PASSWORDS.has(text) || COMMON_PASSWORDS.has(stemOf(text));
  const parts = Array.from(password, (_, at) => [password.slice(0, at), password.slice(at)]);
  return (
    isCommon(password) ||
    // Two common words, such as dragon-monkey: their combinations are too many for a list.
    parts.some((two) => two.every(isCommon)) ||
    // Repetition, such as passwordpassword.
    /^(.+?)\1+$/su.test(password) ||
    ROWS.some((row) => row.includes(password)) ||
    password === email ||
    [email, name, domain, ...domain.split('.')].some((own) => own.length >= 3 && stem === own) ||
    stem === 'cointill'
  );
}

/** The password without the digits and signs that people add to lengthen it. */
function stemOf(text: string): string {
  return text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
}
