import { isIP } from 'node:net';
import type { Troubles } from '../../domain/trouble.ts';
import type { App } from '../context.ts';
import type { GuessLimits } from './guess-limits.ts';
import type { PasswordHasher } from './password-hash.ts';

/** What signing in works with. */
export interface PeopleParts {
  readonly app: App;
  readonly hasher: PasswordHasher;
  readonly limits: GuessLimits;
  /** Is told of wrong sign-ins and proofs. */
  readonly troubles: Troubles;
  /** The key that TOTP secrets are sealed with. */
  readonly sealingKey: () => Promise<Uint8Array>;
  readonly site: Site;
}

/** Where the dashboard is, by `DASHBOARD_URL` alone. */
export interface Site {
  /** Without a trailing slash. */
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

/** Who asks, as far as that is known before anybody has signed in. */
export interface Client {
  /** As it is counted: IPv6 by /64. */
  readonly bucket: string;
  readonly ip: string;
  readonly userAgent: string | null;
  /** The token by which a browser is known again. */
  readonly browserToken: string | null;
  /** The session that it had, which a new one ends. */
  readonly sessionToken: string | null;
}
