import { createHash } from 'node:crypto';
import type { RandomBytes } from '../../domain/clock.ts';

const CODES = 10;
/** The alphabet of Crockford's base32, without i, l, o and u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 24 characters are 120 bits, enough for a fast hash (OWASP ASVS 5, 6.5.2). */
const CODE_CHARACTERS = 24;
const GROUP = 6;
const CODE = /^[0-9a-hjkmnp-tv-z]{24}$/;

/** Ten codes such as `4f7k2m-…`, each of 120 bits. */
export function newRecoveryCodes(random: RandomBytes): readonly string[] {
  return Array.from({ length: CODES }, () => {
    const text = Array.from(random(CODE_CHARACTERS), (byte) => ALPHABET.charAt(byte & 31)).join('');
    return (text.match(new RegExp(`.{${GROUP}}`, 'g')) ?? []).join('-');
  });
}

/**
 * The stored hash of a code; null if its form is wrong. Ignores case, spaces and dashes; reads o as 0, i and l as 1.
 */
export function recoveryCodeHash(code: string): Buffer | null {
  const text = code.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');

  return CODE.test(text) ? createHash('sha256').update(`recovery code ${text}`).digest() : null;
}
