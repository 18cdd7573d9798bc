import { FIATS, isFiat } from '../../domain/money.ts';
import { urlAmbiguity } from '../../domain/web-url.ts';
import type { ProjectChanges } from '../../store/projects/projects.ts';
import { parseCidr } from '../../webhooks/guard.ts';
import { malformed, type Rejected } from '../rejected.ts';
import { parseLogo, type LogoFile } from './logo.ts';
import { checkName } from './name.ts';

const MAX_SPREAD_BASIS_POINTS = 5_000;
/** A year. */
export const MAX_MONITORING_HOURS = 8_760;
const MAX_URL_LENGTH = 2_048;

/** What an operator can change about a project. Null removes a value; fields not given stay as they are. */
export type ProjectRequest = Omit<ProjectChanges, 'logo'> & { readonly logo?: LogoFile | null };

/** A request whose values are invalid: `message` begins with the option that is to blame, as commands call it. */
type Refusal = Rejected | null;

/** The changes of a request, each value validated and in the form in which it is stored. */
export function checkRequest(
  request: ProjectRequest,
): { readonly kind: 'fine'; readonly changes: ProjectChanges } | Rejected {
  const { logo: logoFile, ...given } = request;
  const changes = canonical(given);
  const refusal =
    checkAccess(given, changes) ??
    checkBranding(given, changes) ??
    checkDefaults(given, changes) ??
    checkMonitoring(given);
  if (refusal !== null) return refusal;
  if (logoFile === undefined) return { kind: 'fine', changes };
  const logo = logoFile === null ? null : parseLogo(logoFile);
  return logo !== null && 'kind' in logo ? logo : { kind: 'fine', changes: { ...changes, logo } };
}

type Given = Omit<ProjectRequest, 'logo'>;

/** Each text as it is stored; where it is none that can be, null. */
function canonical(given: Given): Given {
  const { name, accent, supportUrl, defaultSuccessUrl, allowOrigins } = given;
  const by = (text: string | null, read: (text: string) => string | null) => (text === null ? null : read(text));
  return {
    ...given,
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(allowOrigins === undefined ? {} : { allowOrigins: allowOrigins.map((text) => originOf(text) ?? '') }),
    ...(accent === undefined ? {} : { accent: by(accent, accentOf) }),
    ...(supportUrl === undefined ? {} : { supportUrl: by(supportUrl, supportUrlOf) }),
    ...(defaultSuccessUrl === undefined ? {} : { defaultSuccessUrl: by(defaultSuccessUrl, successUrlOf) }),
  };
}

function checkMonitoring({ monitoringHours: hours = null }: Given): Refusal {
  if (hours === null || (Number.isInteger(hours) && hours >= 1 && hours <= MAX_MONITORING_HOURS)) return null;
  return malformed(`monitoring_hours must be a whole number from 1 to ${MAX_MONITORING_HOURS}.`);
}

function checkAccess({ allowIps = [], allowOrigins = [], spreadBasisPoints = 0 }: Given, read: Given): Refusal {
  for (const cidr of allowIps) {
    const parsed = parseCidr(cidr);
    if (parsed.kind === 'invalid') return malformed(`--allow-ips: ${parsed.message}`);
  }
  if (spreadBasisPoints < 0 || spreadBasisPoints > MAX_SPREAD_BASIS_POINTS) {
    return malformed('--spread must be a percentage from 0 to 50 with at most two decimals.');
  }
  const bad = allowOrigins.find((_text, index) => read.allowOrigins?.[index] === '');
  if (bad === undefined) return null;
  return malformed(
    `--allow-origins: "${bad}" is not an origin such as https://shop.example: give the scheme, the host as it is read, and a port at most.`,
  );
}

const isLost = (given: unknown, read: unknown): boolean => typeof given === 'string' && read === null;

function checkBranding({ name, accent, supportUrl }: Given, read: Given): Refusal {
  const badName = name === undefined ? null : checkName(name, '--name');
  if (badName !== null) return badName;
  if (isLost(accent, read.accent)) {
    return {
      ...malformed(
        "--accent must be a colour of six hex digits, such as '#0b6b5b' (in quotes, since a shell takes # for a comment), or none.",
      ),
      onPage: 'The colour must have six hex digits, such as #0b6b5b. Leave it empty for the usual one.',
    };
  }
  if (isLost(supportUrl, read.supportUrl)) {
    const rule = `must be an absolute URL such as https://shop.example/help or mailto:help@shop.example, of at most ${MAX_URL_LENGTH} characters and without a password`;
    return broken('--support-url', 'The support link', rule, 'Leave it empty to show none.');
  }
  return null;
}

/** The refusal of an option that `none` takes away, and of the page's field of it. */
function broken(option: string, field: string, rule: string, wayOut: string): Rejected {
  return { ...malformed(`${option} ${rule}, or none.`), onPage: `${field} ${rule}. ${wayOut}` };
}

/** The bounds of `expires_in_minutes`, which both APIs keep. */
const EXPIRY_MINUTES = { min: 1, max: 1_440 } as const;

function checkDefaults(
  { defaultExpiryMinutes: minutes, defaultCurrency, defaultSuccessUrl }: Given,
  read: Given,
): Refusal {
  const { min, max } = EXPIRY_MINUTES;
  if (typeof minutes === 'number' && !(Number.isInteger(minutes) && minutes >= min && minutes <= max)) {
    const rule = `must be a whole number of minutes from ${min} to ${max}`;
    return broken('--default-expiry', 'The time to pay', rule, 'Leave it empty for the usual 30.');
  }
  if (typeof defaultCurrency === 'string' && !isFiat(defaultCurrency)) {
    return broken('--default-currency', 'The currency', `must be one of ${FIATS.join(', ')}`, 'Or choose none.');
  }
  if (isLost(defaultSuccessUrl, read.defaultSuccessUrl)) {
    const rule = `must be an absolute http or https URL such as https://shop.example/thanks, of at most ${MAX_URL_LENGTH} characters, without a password, and with a host that every browser reads alike`;
    return broken('--default-success-url', 'The address after payment', rule, 'Leave it empty to have none.');
  }
  return null;
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
  if (url.protocol === 'mailto:') {
    // A customer would send copies and words that the link makes up.
    const hasMore = [...url.searchParams.keys()].some((field) => field.toLowerCase() !== 'subject');
    return /^[^\s@,<>"]+@[^\s@,<>"]+$/.test(url.pathname) && !hasMore ? url.href : null;
  }
  return isWebUrl(url) ? url.href : null;
}

function isWebUrl({ protocol, username, password }: URL): boolean {
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}

/** The same rule as for the URLs of a creation. */
function successUrlOf(text: string): string | null {
  const trimmed = text.trim();
  const url = URL.parse(trimmed);
  const isFine =
    url !== null && url.href.length <= MAX_URL_LENGTH && isWebUrl(url) && urlAmbiguity(trimmed, url) === null;
  return isFine ? url.href : null;
}
