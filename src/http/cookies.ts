import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_MS } from '../app/people/sessions.ts';
import { SIGN_IN_MS } from '../app/people/sign-in.ts';
import { cameEncrypted } from './https-rule.ts';

const DAY_MS = 24 * 60 * 60_000;
/** How long a browser is known after a sign-in. */
export const BROWSER_MS = 180 * DAY_MS;

/** The lifetime of each cookie. All belong to this host only, and no script can read them. */
const LIFETIMES_MS = { session: SESSION_MS, sign_in: SIGN_IN_MS, browser: BROWSER_MS } as const;
export type CookieKind = keyof typeof LIFETIMES_MS;

/**
 * Encrypted, a cookie has the prefix with which a browser accepts it only from this host itself (RFC 6265bis, 4.1.3.2).
 * Plain HTTP reaches the dashboard only from developers; there browsers refuse the prefix.
 */
function nameOf(kind: CookieKind, isEncrypted: boolean): string {
  return `${isEncrypted ? '__Host-' : ''}cointill_${kind}`;
}

/** The value of a cookie; null without one. */
export function readCookie(request: FastifyRequest, kind: CookieKind, behindProxy: boolean): string | null {
  return cookieOf(request, nameOf(kind, cameEncrypted(request, behindProxy)));
}

/** The value of the cookie of a name; null without one. */
export function cookieOf(request: FastifyRequest, wanted: string): string | null {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [name = '', value = ''] = part.trim().split('=', 2);
    if (name === wanted && value !== '') return value;
  }
  return null;
}

/** Sets a cookie, or deletes it if the value is null. */
export function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  kind: CookieKind,
  value: string | null,
  behindProxy: boolean,
): void {
  const isEncrypted = cameEncrypted(request, behindProxy);
  const age = value === null ? 0 : LIFETIMES_MS[kind] / 1000;
  const parts = [`${nameOf(kind, isEncrypted)}=${value ?? ''}`, 'Path=/', `Max-Age=${age}`, 'HttpOnly', 'SameSite=Lax'];
  void reply.header('set-cookie', [...parts, ...(isEncrypted ? ['Secure'] : [])].join('; '));
}
