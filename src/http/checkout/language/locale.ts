import type en from '../../../../texts/checkout/en.json';
import { fiatDecimals, formatDecimal, type Fiat } from '../../../domain/money.ts';
import { languageName } from '../../../domain/text.ts';
import { html, raw, asciiMarkup, type Child, type Html } from '../../pages/html.ts';
import type { TextValues } from './text-values.ts';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { acceptedLanguages, languageCode } from '../../client.ts';

export type TextKey = keyof typeof en;
/** `{name}` is a placeholder, `<b>…</b>` marks emphasis; there is no other markup. */
export type Texts = Readonly<Record<TextKey, string>>;

/** The names of the values that a text takes. */
type ValueNames<Key extends TextKey> = TextValues[Extract<Key, keyof TextValues>];
/** The arguments of a text; none for texts without values. */
type Given<Key extends TextKey, Value> = [ValueNames<Key>] extends [never]
  ? []
  : [Readonly<Record<ValueNames<Key>, Value>>];

/** One language: its texts, and its formats of money, times and durations. */
export interface Locale {
  /** The BCP 47 code, as in `lang` and in `?lang=`. */
  readonly code: string;
  /** The language's own name. */
  readonly name: string;
  readonly direction: 'ltr' | 'rtl';
  readonly texts: Texts;
  /** Whether its pages are sent as ASCII, with references for other characters. */
  readonly isAscii: boolean;
  /** A text as markup; its values are escaped. */
  t<Key extends TextKey>(key: Key, ...values: Given<Key, Child>): Html;
  /** A text without emphasis, for titles and attributes. */
  plain<Key extends TextKey>(key: Key, ...values: Given<Key, string>): string;
  /** `$1,234.50`, from minor units; exact. */
  fiat(minor: bigint, currency: Fiat): string;
  /** `$60,000.00`, from a decimal: a price, with up to four places where it is low. */
  price(decimal: string, currency: Fiat): string;
  /** `Base, Polygon or Ethereum`. */
  oneOf(names: readonly string[]): string;
  /** `Base, Polygon`, the beginning of a longer list. */
  list(names: readonly string[]): string;
  /** `14:05:09 UTC`, with the date if that is not today's. */
  time(at: number, now: number): Html;
  /** `21 November 2025 at 14:05:09 UTC`, for receipts. */
  dateTime(at: number): Html;
  /** Like `dateTime`, but with the zone even if it is the reader's own: receipts are read elsewhere. */
  receiptTime(at: number): Html;
  /** `21 November 2025`, of a day such as `2025-11-21`. */
  day(day: string): string;
  /** The time from `now` until `at`, rounded down so that it never promises too much: `1 hour, 5 minutes`. */
  duration(untilMs: number): string;
}

interface Part {
  readonly text: string;
  readonly value: string | null;
}

/** Caches a value that depends only on the language. */
export function once<Made>(make: (locale: Locale) => Made): (locale: Locale) => Made {
  const made = new Map<Locale, Made>();
  return (locale) => {
    let known = made.get(locale);
    if (known === undefined) {
      known = make(locale);
      made.set(locale, known);
    }
    return known;
  };
}

/** Whether almost all of its characters are ASCII: pages in other languages would grow by the references. */
function isMostlyAscii(texts: Texts): boolean {
  const all = Object.values(texts).join('');
  return (all.match(/[^\0-\x7f]/gu)?.length ?? 0) < all.length / 4;
}

/** Splits `Pay {amount} now` once, so that rendering only iterates over its parts. */
function partsOf(text: string): readonly Part[] {
  const pieces = text.split(/\{(\w+)\}/);
  return pieces.flatMap((piece, index) => (index % 2 === 0 ? [{ text: piece, value: pieces[index + 1] ?? null }] : []));
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
/** Below this, a price with two places would be too inexact. */
const LOW_PRICE = 10;
const LOW_PRICE_PLACES = 4;
/** Enough for the payments whose pages are requested again and again. */
const MAX_TIMES = 1_000;

/** Makes a language from its texts. Digits are always Latin, because amounts must be compared with a wallet's. */
export function createLocale(code: string, texts: Texts): Locale {
  const entries = Object.entries(texts);
  const isAscii = isMostlyAscii(texts);
  const markup = isAscii ? asciiMarkup : (text: string) => text;
  const marked = new Map(entries.map(([key, text]) => [key, partsOf(markup(text))]));
  const parts = new Map(entries.map(([key, text]) => [key, partsOf(text)]));
  const whole = new Map(
    entries.filter(([, text]) => !text.includes('{')).map(([key, text]) => [key, raw(markup(text))]),
  );
  const values = (given: readonly unknown[]): Readonly<Record<string, unknown>> => Object(given[0] ?? {});
  return {
    code,
    name: languageName(code),
    direction: new Intl.Locale(code).getTextInfo().direction === 'rtl' ? 'rtl' : 'ltr',
    texts,
    isAscii,
    t: (key, ...given) => {
      const ready = whole.get(key);
      if (ready !== undefined) return ready;
      const known = values(given) as Readonly<Record<string, Child>>;
      return html`${(marked.get(key) ?? []).map(({ text, value }) => html`${raw(text)}${value && (known[value] ?? '')}`)}`;
    },
    plain: (key, ...given) => {
      const known = values(given) as Readonly<Record<string, string>>;
      return (parts.get(key) ?? [])
        .map(({ text, value }) => text + (value === null ? '' : (known[value] ?? '')))
        .join('');
    },
    ...createFormats(`${code}-u-nu-latn`),
  };
}

/** Amounts and times in the language's format; results are cached, because pages need the same ones again and again. */
function createFormats(
  intl: string,
): Pick<Locale, 'fiat' | 'price' | 'oneOf' | 'list' | 'time' | 'dateTime' | 'receiptTime' | 'day' | 'duration'> {
  const currencies = new Map<string, Intl.NumberFormat>();
  const alternatives = new Intl.ListFormat(intl, { type: 'disjunction' });
  const lists = new Intl.ListFormat(intl, { type: 'unit', style: 'short' });
  const time = new Intl.DateTimeFormat(intl, { timeStyle: 'long', timeZone: 'UTC' });
  const dateTime = new Intl.DateTimeFormat(intl, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' });
  const day = new Intl.DateTimeFormat(intl, { dateStyle: 'long', timeZone: 'UTC' });
  const duration = new Intl.DurationFormat(intl, { style: 'long' });
  // Formatting one takes a fifth of the time of a page, and a payment lives for at most a day.
  const durations = new Map<number, string>();
  const times = new Map<string, Html>();
  const element = (at: number, kind: 'time' | 'datetime' | 'receipt'): Html => {
    const key = `${kind} ${at}`;
    let element = times.get(key);
    if (element === undefined) {
      const text = (kind === 'time' ? time : dateTime).format(at);
      element = html`<time datetime="${new Date(at).toISOString()}" data-local="${kind}">${text}</time>`;
      if (times.size >= MAX_TIMES) times.clear();
      times.set(key, element);
    }
    return element;
  };
  /** Given a text, Intl formats every digit; given a number, it would round. */
  const inCurrency = (decimal: string, currency: Fiat, places: number): string => {
    const key = `${currency} ${places}`;
    let format = currencies.get(key);
    if (format === undefined) {
      const digits = { minimumFractionDigits: fiatDecimals(currency), maximumFractionDigits: places };
      format = new Intl.NumberFormat(intl, { style: 'currency', currency, currencyDisplay: 'narrowSymbol', ...digits });
      currencies.set(key, format);
    }
    // Intl's right-to-left marks would separate number and currency where they stand alone.
    return format.format(decimal as `${number}`).replaceAll(/[\u200e\u200f]/g, '');
  };
  return {
    fiat: (minor, currency) =>
      inCurrency(formatDecimal(minor, fiatDecimals(currency)), currency, fiatDecimals(currency)),
    price: (decimal, currency) =>
      inCurrency(decimal, currency, Number(decimal) < LOW_PRICE ? LOW_PRICE_PLACES : fiatDecimals(currency)),
    oneOf: (names) => alternatives.format(names),
    list: (names) => lists.format(names),
    time: (at, now) => {
      const sameDay = Math.floor(at / 86_400_000) === Math.floor(now / 86_400_000);
      return element(at, sameDay ? 'time' : 'datetime');
    },
    dateTime: (at) => element(at, 'datetime'),
    receiptTime: (at) => element(at, 'receipt'),
    day: (text) => day.format(Date.parse(`${text}T00:00:00Z`)),
    duration: (untilMs) => {
      if (untilMs < MINUTE_MS) return duration.format({ seconds: Math.max(1, Math.floor(untilMs / 1_000)) });
      const minutes = Math.floor(untilMs / MINUTE_MS);
      const known = durations.get(minutes);
      if (known !== undefined) return known;
      const text = duration.format({ hours: Math.floor(minutes / 60), minutes: minutes % 60 });
      if (minutes <= DAY_MINUTES) durations.set(minutes, text);
      return text;
    },
  };
}

/** Texts that only the page's script shows. */
const KEYS = [
  'copied',
  'copy_failed',
  'working',
  'offline',
  'online',
  'wallet_request',
  'wallet_switch',
  'wallet_sent',
  'wallet_mined',
  'wallet_reverted',
  'wallet_lost',
  'wallet_rejected',
  'wallet_wrong_network',
  'wallet_failed',
  'returning',
  'local_time',
] as const satisfies readonly TextKey[];

/** The script's texts as JSON that cannot end its element; they are the program's own texts. */
export const scriptTexts: (locale: Locale) => Html = once((locale) => {
  const texts = Object.fromEntries(KEYS.map((key) => [key, locale.texts[key]]));
  return raw(JSON.stringify(texts).replaceAll(/<|[^\0-\x7f]/g, escapeCodeUnit));
});

function escapeCodeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Each file is a language, named by its code: adding a language takes only a new file. */
const FOLDER = path.join(import.meta.dirname, '../../../../texts/checkout');

/** The language for visitors whose languages are not available. */
export const ENGLISH: Locale = createLocale('en', textsOf('en.json'));

/** Every language of the pages by its code, ordered by their own names. Read once, at start. */
export const LANGUAGES: ReadonlyMap<string, Locale> = new Map(
  readdirSync(FOLDER)
    .map((file) => (file === 'en.json' ? ENGLISH : createLocale(path.basename(file, '.json'), textsOf(file))))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
    .map((locale) => [locale.code, locale]),
);

function textsOf(file: string): Texts {
  return JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8'));
}

/**
 * Chooses the language. `asked` is the code in the address bar and wins; otherwise `usual`, the code that the shop
 * wants for this page; otherwise the browser's list in its order of preference; otherwise English.
 */
export function chooseLanguage(
  asked: unknown,
  acceptLanguage: string | undefined,
  usual: string | null = null,
): Locale {
  const named = typeof asked === 'string' ? LANGUAGES.get(languageCode(asked)) : undefined;
  return named ?? (usual === null ? undefined : LANGUAGES.get(usual)) ?? preferred(acceptLanguage ?? '');
}

/** Browsers of one language send the same few headers. */
const MAX_KEPT = 500;
const MAX_KEPT_LENGTH = 200;
const kept = new Map<string, Locale>();

function preferred(header: string): Locale {
  const before = kept.get(header);
  if (before !== undefined) return before;
  const code = acceptedLanguages(header).find((one) => LANGUAGES.has(one)) ?? 'en';
  const locale = LANGUAGES.get(code) ?? ENGLISH;
  if (kept.size >= MAX_KEPT) kept.clear();
  if (header.length <= MAX_KEPT_LENGTH) kept.set(header, locale);
  return locale;
}
