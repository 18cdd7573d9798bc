import { createHash } from 'node:crypto';
import type { RandomBytes } from '../../domain/clock.ts';

const TOKEN_BYTES = 32;
/** The form of a token: 32 bytes in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** A bearer token of 32 random bytes. Only its hash is stored. */
export function newToken(random: RandomBytes): string {
  return Buffer.from(random(TOKEN_BYTES)).toString('base64url');
}

/** The hash under which a token from {@link newToken} is stored. */
export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The hash of a token that a client sent; null if its form is wrong. */
export function tokenHash(token: string): Buffer | null {
  return TOKEN.test(token) ? hashOf(token) : null;
}
