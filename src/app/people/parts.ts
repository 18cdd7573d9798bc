import { isIP } from 'node:net';
import type { SealingKeys } from '../../webhooks/secret.ts';
import type { App } from '../context.ts';
import type { GuessLimits } from './guess-limits.ts';
import type { PasswordHasher } from './password-hash.ts';

/** The dependencies of sign-in and accounts. */
export interface PeopleParts {
  readonly app: App;
  readonly hasher: PasswordHasher;
  readonly limits: GuessLimits;
  /** The keys of TOTP secrets. */
  readonly sealingKeys: () => Promise<SealingKeys>;
  readonly site: Site;
}

/** The dashboard's address, from `DASHBOARD_URL`. */
export interface Site {
  /** The URL without a trailing slash. */
  readonly url: string;
  readonly origin: string;
  readonly passkeys:
    | { readonly kind: 'offered'; readonly host: string }
    | { readonly kind: 'not_offered'; readonly reason: 'ip_address' | 'not_https' };
}

export function siteOf(url: string): Site {
  const { origin, hostname, protocol } = new URL(url);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  const passkeys = isAddress
    ? ({ kind: 'not_offered', reason: 'ip_address' } as const)
    : protocol === 'https:' || isLocal
      ? ({ kind: 'offered', host: hostname } as const)
      : ({ kind: 'not_offered', reason: 'not_https' } as const);
  return { url, origin, passkeys };
}
