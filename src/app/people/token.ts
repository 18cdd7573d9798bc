import { createHash } from 'node:crypto';
import type { RandomBytes } from '../../domain/clock.ts';

const TOKEN_BYTES = 32;
/** 32 bytes in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** A secret that lets its bearer in: 32 random bytes. Only its hash is stored. */
export function newToken(random: RandomBytes): string {
  return Buffer.from(random(TOKEN_BYTES)).toString('base64url');
}

/** The SHA-256 under which a token is stored; null for what cannot be one. */
export function tokenHash(token: string): Buffer | null {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest() : null;
}
