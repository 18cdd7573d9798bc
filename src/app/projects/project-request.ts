import { amountRange } from '../../domain/amount-range.ts';
import { DATEV_ACCOUNTS, DATEV_BOUNDS, isDatevAccount } from '../../domain/bookkeeping.ts';
import { fiatDecimals, FIATS, isFiat, maxAmountMinor, MIN_AMOUNT_MINOR, parseDecimal } from '../../domain/money.ts';
import { urlAmbiguity } from '../../domain/web-url.ts';
import { PICTURES, type Logo, type PictureName, type ProjectChanges } from '../../store/projects/projects.ts';
import { parseCidr } from '../../webhooks/guard.ts';
import { rejected, rejectedBy, type Rejected } from '../rejected.ts';
import { parseLogo, type LogoFile } from './logo.ts';
import { checkDirection, checkName, isLine } from './name.ts';

const MAX_SPREAD_BASIS_POINTS = 5_000;
/** One year. */
export const MAX_MONITORING_HOURS = 8_760;
const MAX_URL_LENGTH = 2_048;

/** The changes that an operator can make to a project. Null removes a value; absent fields stay as they are. */
export type ProjectRequest = Omit<ProjectChanges, PictureName | 'defaultCurrency'> & {
  readonly [Name in PictureName]?: LogoFile | null;
} & {
  readonly defaultCurrency?: string | null;
};

/** The changes of a request, each value validated and in the form in which it is stored. */
export function checkRequest(
  request: ProjectRequest,
): { readonly kind: 'fine'; readonly changes: ProjectChanges } | Rejected {
  const { logo: _logo, icon: _icon, ...given } = request;
  const changes = canonical(given);
  const refusal =
    checkAccess(given, changes) ??
    checkBranding(given, changes) ??
    checkWords(given, changes) ??
    checkDefaults(given, changes) ??
    checkMonitoring(given) ??
    checkDatev(given) ??
    checkTill(given);
  if (refusal !== null) return refusal;
  const pictures: { [Name in PictureName]?: Logo | null } = {};
  for (const name of PICTURES) {
    const file = request[name];
    if (file === undefined) continue;
    const picture = file === null ? null : parseLogo(file, name);
    if (picture !== null && 'kind' in picture) return picture;
    pictures[name] = picture;
  }
  return { kind: 'fine', changes: { ...changes, ...pictures } };
}

type Given = Omit<ProjectRequest, PictureName>;
type Stored = Omit<ProjectChanges, PictureName>;

/** Each text in its stored form; null if the text is invalid. */
function canonical({ defaultCurrency, ...given }: Given): Stored {
  const { name, accent, supportUrl, defaultSuccessUrl, allowOrigins, pageText, termsUrl, imprintUrl } = given;
  const by = (text: string | null, read: (text: string) => string | null) => (text === null ? null : read(text));
  const currency = defaultCurrency?.toUpperCase() ?? '';
  return {
    ...given,
    ...(defaultCurrency === undefined ? {} : { defaultCurrency: isFiat(currency) ? currency : null }),
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(allowOrigins === undefined ? {} : { allowOrigins: allowOrigins.map((text) => originOf(text) ?? '') }),
    ...(accent === undefined ? {} : { accent: by(accent, accentOf) }),
    ...(supportUrl === undefined ? {} : { supportUrl: by(supportUrl, supportUrlOf) }),
    ...(pageText === undefined ? {} : { pageText: by(pageText, (text) => text.trim()) }),
    ...(termsUrl === undefined ? {} : { termsUrl: by(termsUrl, secureUrlOf) }),
    ...(imprintUrl === undefined ? {} : { imprintUrl: by(imprintUrl, secureUrlOf) }),
    ...(defaultSuccessUrl === undefined ? {} : { defaultSuccessUrl: by(defaultSuccessUrl, successUrlOf) }),
  };
}

function checkMonitoring({ monitoringHours: hours = null }: Given): Rejected | null {
  if (hours === null || (Number.isInteger(hours) && hours >= 1 && hours <= MAX_MONITORING_HOURS)) return null;
  return rejected('whole_number', { param: 'monitoringHours', min: 1, max: MAX_MONITORING_HOURS });
}

function checkAccess(
  { allowIps = [], allowOrigins = [], spreadBasisPoints = 0 }: Given,
  read: Stored,
): Rejected | null {
  for (const cidr of allowIps) {
    const parsed = parseCidr(cidr);
    if (parsed.kind === 'invalid') return rejectedBy(parsed, 'allowIps');
  }
  if (spreadBasisPoints < 0 || spreadBasisPoints > MAX_SPREAD_BASIS_POINTS) {
    return rejected('percentage', { param: 'spreadBasisPoints', max: MAX_SPREAD_BASIS_POINTS / 100 });
  }
  const bad = allowOrigins.find((_text, index) => read.allowOrigins?.[index] === '');
  return bad === undefined ? null : rejected('origin', { param: 'allowOrigins', text: bad });
}

function checkDatev({ datev = null }: Given): Rejected | null {
  if (datev === null) return null;
  for (const [param, { min, max }] of Object.entries(DATEV_BOUNDS)) {
    const value = datev[param as keyof typeof DATEV_BOUNDS];
    if (!(Number.isInteger(value) && value >= min && value <= max)) {
      return rejected('whole_number', { param, min, max });
    }
  }
  const bad = DATEV_ACCOUNTS.find((account) => {
    const number = datev[account];
    return number !== null && !isDatevAccount(number, datev.accountLength);
  });
  return bad === undefined ? null : rejected('account_number', { param: bad, max: datev.accountLength + 1 });
}

function checkTill({ till = null }: Given): Rejected | null {
  if (till === null || till.seenBelow === null) return null;
  const { amount, currency } = till.seenBelow;
  const decimals = fiatDecimals(currency);
  const minor = parseDecimal(amount, decimals);
  const [min, max] = [MIN_AMOUNT_MINOR, maxAmountMinor(currency)];
  if (minor !== null && minor >= min && minor <= max) return null;
  return rejected('amount_range', { param: 'seenBelow', ...amountRange(currency) });
}

const isLost = (given: unknown, read: unknown): boolean => typeof given === 'string' && read === null;

function checkBranding({ name, accent, supportUrl }: Given, read: Stored): Rejected | null {
  const badName = name === undefined ? null : checkName(name);
  if (badName !== null) return badName;
  if (isLost(accent, read.accent)) return rejected('accent', { param: 'accent' });
  return isLost(supportUrl, read.supportUrl)
    ? rejected('support_url', { param: 'supportUrl', max: MAX_URL_LENGTH })
    : null;
}

const MAX_TEXT_LENGTH = 200;

/** The shop's own words on its pages. */
function checkWords({ pageText = null, termsUrl, imprintUrl }: Given, read: Stored): Rejected | null {
  if (pageText !== null && !isLine(pageText, MAX_TEXT_LENGTH)) {
    return rejected('page_text', { param: 'pageText', max: MAX_TEXT_LENGTH });
  }
  const turned = checkDirection(pageText ?? '', 'pageText');
  if (turned !== null) return turned;
  if (isLost(termsUrl, read.termsUrl)) return rejected('secure_url', { param: 'termsUrl', max: MAX_URL_LENGTH });
  return isLost(imprintUrl, read.imprintUrl)
    ? rejected('secure_url', { param: 'imprintUrl', max: MAX_URL_LENGTH })
    : null;
}

/** The bounds of `expires_in_minutes` in both APIs. */
const EXPIRY_MINUTES = { min: 1, max: 1_440 } as const;

function checkDefaults(
  { defaultExpiryMinutes: minutes, defaultCurrency, defaultSuccessUrl }: Given,
  read: Stored,
): Rejected | null {
  const { min, max } = EXPIRY_MINUTES;
  if (typeof minutes === 'number' && !(Number.isInteger(minutes) && minutes >= min && minutes <= max)) {
    return rejected('expiry', { param: 'defaultExpiryMinutes', min, max });
  }
  if (isLost(defaultCurrency, read.defaultCurrency)) {
    return rejected('currency', { param: 'defaultCurrency', names: FIATS.join(', ') });
  }
  return isLost(defaultSuccessUrl, read.defaultSuccessUrl)
    ? rejected('success_url', { param: 'defaultSuccessUrl', max: MAX_URL_LENGTH })
    : null;
}

/**
 * A host name, IPv4 or IPv6 address. The URL parser accepts more (`*`, `;`, quotes), which means something else in a
 * policy.
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
 * The URL in canonical form. It becomes a link on a public page, so it must be no script and no file, and contain no
 * password.
 */
function supportUrlOf(text: string): string | null {
  const url = URL.parse(text.trim());
  if (url === null || url.href.length > MAX_URL_LENGTH) return null;
  if (url.protocol === 'mailto:') {
    // Further fields could make a customer send copies and words of the link's choice.
    const hasMore = [...url.searchParams.keys()].some((field) => field.toLowerCase() !== 'subject');
    return /^[^\s@,<>"]+@[^\s@,<>"]+$/.test(url.pathname) && !hasMore ? url.href : null;
  }
  return isWebUrl(url) ? url.href : null;
}

function isWebUrl({ protocol, username, password }: URL): boolean {
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}

/** The rule for the success URL of a creation. */
function successUrlOf(text: string): string | null {
  const trimmed = text.trim();
  const url = URL.parse(trimmed);
  const isFine =
    url !== null && url.href.length <= MAX_URL_LENGTH && isWebUrl(url) && urlAmbiguity(trimmed, url) === null;
  return isFine ? url.href : null;
}

/** Links beside a payment must not be changed on the way. */
function secureUrlOf(text: string): string | null {
  const url = successUrlOf(text);
  return url?.startsWith('https:') === true ? url : null;
}
