import { readGreenfieldPermissions, type AskedPermissions } from '../../../domain/greenfield-permission.ts';
import { invalid, type Invalid } from '../../../domain/sentence.ts';
import { hasVisible, printableLine } from '../../../domain/visible.ts';
import { urlAmbiguity } from '../../../domain/web-url.ts';

/** A shop plugin's question for a key, as it stands in the page's address. */
export interface Asked extends Omit<Extract<AskedPermissions, { readonly kind: 'asked' }>, 'kind'> {
  /** Where the key goes, exactly as given. */
  readonly redirect: string;
  /** Its host, with a port that is not the usual one. */
  readonly host: string;
  readonly origin: string;
  /** The name that the application gives itself; anybody can claim any. */
  readonly application: string | null;
}

const MAX_APPLICATION = 80;
const MAX_SHOWN = 100;

/**
 * Reads the query of `/api-keys/authorize` as BTCPay Server defines it. `strict`, `selectiveStores` and
 * `applicationIdentifier` change nothing here: each consent makes a key of its own, for one project.
 */
export function readAsked(query: string, isProduction: boolean): ({ readonly kind: 'asked' } & Asked) | Invalid {
  const given = new URLSearchParams(query);
  const [redirect = '', ...others] = given.getAll('redirect');
  if (redirect === '') return invalid('connect_no_redirect');
  const url = others.length === 0 ? readRedirect(redirect, isProduction) : null;
  if (url === null) return invalid('connect_redirect', { address: printableLine(redirect, MAX_SHOWN) });
  const asked = readGreenfieldPermissions(given.getAll('permissions'));
  if (asked.kind === 'nothing') return invalid('connect_no_permissions');
  if (asked.kind === 'unknown') {
    return invalid('connect_permission', { permission: printableLine(asked.permission, MAX_SHOWN) });
  }
  const application = printableLine(given.get('applicationName') ?? '', MAX_APPLICATION);
  const { host, origin } = url;
  return { ...asked, redirect, host, origin, application: hasVisible(application) ? application : null };
}

/** A policy cannot name other hosts: IPv6 addresses, `_`, and what would end its rule or allow all, `;` and `*`. */
const NAMEABLE_HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

function readRedirect(text: string, isProduction: boolean): URL | null {
  const url = URL.parse(text);
  // Browsers remove some of these characters.
  if (url === null || /[\s\p{Cc}]/u.test(text)) return null;
  const isHere = url.protocol === 'http:' && ['localhost', '127.0.0.1'].includes(url.hostname);
  if (url.protocol !== 'https:' && (isProduction || !isHere)) return null;
  // It also refuses a user name and a password.
  return urlAmbiguity(text, url) === null && NAMEABLE_HOST.test(url.hostname) ? url : null;
}
