import { urlAmbiguity } from '../../domain/web-url.ts';
import type { ProjectChanges } from '../../store/projects.ts';
import { parseCidr } from '../../webhooks/guard.ts';
import { malformed, type Rejected } from '../rejected.ts';
import { parseLogo, type LogoFile } from './logo.ts';

const MAX_SPREAD_BASIS_POINTS = 5_000;
const MAX_URL_LENGTH = 2_048;

/** What an operator can change about a project. Null removes a value; fields not given stay as they are. */
export type ProjectRequest = Omit<ProjectChanges, 'logo'> & { readonly logo?: LogoFile | null };

/** The changes of a request, each value validated and in the form in which it is stored. */
export function checkRequest(
  request: ProjectRequest,
): { readonly kind: 'fine'; readonly changes: ProjectChanges } | Rejected {
  const { logo: logoFile, ...changes } = request;
  for (const cidr of changes.allowIps ?? []) {
    const parsed = parseCidr(cidr);
    if (parsed.kind === 'invalid') return malformed(`--allow-ips: ${parsed.message}`);
  }
  const { spreadBasisPoints = 0 } = changes;
  if (spreadBasisPoints < 0 || spreadBasisPoints > MAX_SPREAD_BASIS_POINTS) {
    return malformed('--spread must be a percentage from 0 to 50 with at most two decimals.');
  }
  const allowOrigins: string[] = [];
  for (const text of changes.allowOrigins ?? []) {
    const origin = originOf(text);
    if (origin === null)
      return malformed(
        `--allow-origins: "${text}" is not an origin such as https://shop.example: give the scheme, the host as it is read, and a port at most.`,
      );
    allowOrigins.push(origin);
  }
  const accent = typeof changes.accent === 'string' ? accentOf(changes.accent) : null;
  if (typeof changes.accent === 'string' && accent === null) {
    return malformed(
      "--accent must be a colour of six hex digits, such as '#0b6b5b' (in quotes, since a shell takes # for a comment), or none.",
    );
  }
  const supportUrl = typeof changes.supportUrl === 'string' ? supportUrlOf(changes.supportUrl) : null;
  if (typeof changes.supportUrl === 'string' && supportUrl === null) {
    return malformed(
      `--support-url must be an absolute URL such as https://shop.example/help or mailto:help@shop.example, of at most ${MAX_URL_LENGTH} characters and without a password, or none.`,
    );
  }
  const logo = logoFile === undefined || logoFile === null ? null : parseLogo(logoFile);
  if (logo !== null && 'kind' in logo) return logo;
  return {
    kind: 'fine',
    changes: {
      ...changes,
      ...(changes.allowOrigins === undefined ? {} : { allowOrigins }),
      ...(changes.accent === undefined ? {} : { accent }),
      ...(changes.supportUrl === undefined ? {} : { supportUrl }),
      ...(logoFile === undefined ? {} : { logo }),
    },
  };
}

/**
 * A name, IPv4 or IPv6 address. The URL parser accepts more (`*`, `;`, quotes), which means something else in a policy.
 */
const PROPER_HOST = /^(?:(?:[a-z0-9-]+\.)*[a-z0-9-]+|\[[0-9a-f:]+\])$/;

function originOf(text: string): string | null {
  const url = URL.parse(text);
  const isOrigin =
    url !== null &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    url.href === `${url.origin}/` &&
    urlAmbiguity(text, url) === null &&
    PROPER_HOST.test(url.hostname);
  return isOrigin ? url.origin : null;
}

function accentOf(text: string): string | null {
  const digits = /^#?([0-9a-f]{6})$/i.exec(text.trim())?.[1];
  return digits?.toLowerCase() ?? null;
}

/**
 * The URL in canonical form. It becomes a link on a public page, so it must not be a script, a file or contain a
 * password.
 */
function supportUrlOf(text: string): string | null {
  const url = URL.parse(text.trim());
  if (url === null || url.href.length > MAX_URL_LENGTH) return null;
  if (url.protocol === 'mailto:') return /^[^\s@,<>"]+@[^\s@,<>"]+$/.test(url.pathname) ? url.href : null;
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  return isWeb && url.username === '' && url.password === '' ? url.href : null;
}
