/** The formats of money and times in a language. */
export interface Formats {
  /** The person's time zone, such as `Europe/Berlin`. */
  readonly zone: string;
  /** The language tag of numbers and dates, such as `de-AT`. */
  readonly intl: string;
  /** `$1,234.50` for a decimal text; exact, because no float is involved. */
  readonly fiat: (amount: string, currency: string) => string;
  /** `$0.999875` for a coin's price: below a hundred with as many decimals as it has. */
  readonly price: (amount: string, currency: string) => string;
  /** `0.05 BTC`: at most eight decimals, and `…` where there are more. */
  readonly coin: (amount: string, asset: string) => string;
  /** `$1.2k`, for the scale of a chart. */
  readonly shortFiat: (amount: number, currency: string) => string;
  readonly number: (value: number) => string;
  /** `71.4 %` for 71.4. */
  readonly percent: (value: number, digits?: number) => string;
  /** `22 Nov 2026, 14:01`. */
  readonly dateTime: (iso: string) => string;
  /** `22 Nov 2026, 14:01:07`. */
  readonly exactTime: (iso: string) => string;
  /** `14:01:07`. */
  readonly time: (iso: string) => string;
  /** `22 Nov 2026`. */
  readonly date: (iso: string) => string;
  /** `22 Nov` for a day such as 2026-11-22, which has no time zone. */
  readonly day: (date: string) => string;
  /** A day as `22 Nov 2026`. */
  readonly fullDay: (date: string) => string;
  /** `2026-11-22`, the day of a time in the person's zone. */
  readonly localDay: (iso: string) => string;
  /** Hour and minute of a time within half a day, and otherwise the date too. */
  readonly shortTime: (iso: string, now: number) => string;
  /** `2 min ago`, `in 4 min`; the date from one day on. */
  readonly relative: (iso: string, now: number) => string;
  /** `11 min`. */
  readonly duration: (ms: number) => string;
}

/** The parts of all dates and times; the styles of `Intl` would write only some German months as a name. */
const DATE = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const MINUTES = { hour: 'numeric', minute: '2-digit' } as const;
const SECONDS = { ...MINUTES, second: '2-digit' } as const;
/** The number of decimals in the server's prices. */
const PRICE_PLACES = 6;
/** Below this price of a coin, decimals beyond a currency's own matter to people. */
const FINE_PRICE = 100;
/** The decimals of a coin that people write; amounts that are owed or refunded have no more. */
const COIN_PLACES = 8;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * The formats of a language in a time zone. The browser's tag for that language decides about dates and numbers:
 * British English puts the day before the month.
 */
export function formatsOf(code: string, tags: readonly string[], zone: string): Formats {
  const intl = tags.find((tag) => tag === code || tag.startsWith(`${code}-`)) ?? code;
  const currencies = new Map<string, Intl.NumberFormat>();
  const currencyFormat = (currency: string, form: MoneyForm): Intl.NumberFormat => {
    const key = `${currency} ${form}`;
    const known = currencies.get(key) ?? new Intl.NumberFormat(intl, moneyOptions(currency, form));
    currencies.set(key, known);
    return known;
  };
  const number = new Intl.NumberFormat(intl);
  const coin = new Intl.NumberFormat(intl, { maximumFractionDigits: COIN_PLACES, roundingMode: 'trunc' });
  const dateTime = new Intl.DateTimeFormat(intl, { ...DATE, ...MINUTES, timeZone: zone });
  const exactTime = new Intl.DateTimeFormat(intl, { ...DATE, ...SECONDS, timeZone: zone });
  const time = new Intl.DateTimeFormat(intl, { ...SECONDS, timeZone: zone });
  const minutes = new Intl.DateTimeFormat(intl, { ...MINUTES, timeZone: zone });
  const day = new Intl.DateTimeFormat(intl, { day: 'numeric', month: 'short', timeZone: 'UTC' });
  const dayOf = new Intl.DateTimeFormat(intl, { ...DATE, timeZone: zone });
  const fullDay = new Intl.DateTimeFormat(intl, { ...DATE, timeZone: 'UTC' });
  const relative = new Intl.RelativeTimeFormat(intl, { style: 'short', numeric: 'always' });
  return {
    zone,
    intl,
    fiat: (amount, currency) => currencyFormat(currency, 'whole').format(amount as `${number}`),
    price: (amount, currency) =>
      currencyFormat(currency, Number(amount) < FINE_PRICE ? 'price' : 'whole').format(amount as `${number}`),
    coin: (amount, asset) => {
      const isCut = (amount.split('.')[1] ?? '').length > COIN_PLACES;
      return `${coin.format(amount as `${number}`)}${isCut ? '…' : ''} ${asset}`.trimEnd();
    },
    shortFiat: (amount, currency) => currencyFormat(currency, 'short').format(amount),
    number: (value) => number.format(value),
    percent: (value, digits = 1) =>
      new Intl.NumberFormat(intl, { style: 'percent', maximumFractionDigits: digits }).format(value / 100),
    dateTime: (iso) => dateTime.format(new Date(iso)),
    exactTime: (iso) => exactTime.format(new Date(iso)),
    time: (iso) => time.format(new Date(iso)),
    shortTime: (iso, now) =>
      Math.abs(Date.parse(iso) - now) < DAY / 2 ? minutes.format(new Date(iso)) : dateTime.format(new Date(iso)),
    date: (iso) => dayOf.format(new Date(iso)),
    day: (date) => day.format(new Date(`${date}T00:00:00Z`)),
    fullDay: (date) => fullDay.format(new Date(`${date}T00:00:00Z`)),
    // Swedish dates have the form of ISO 8601.
    localDay: (iso) => new Date(iso).toLocaleDateString('sv-SE', { timeZone: zone }),
    relative: (iso, now) => {
      const ms = Date.parse(iso) - now;
      if (Math.abs(ms) >= DAY) return dayOf.format(new Date(iso));
      return relative.format(...unitOf(ms));
    },
    duration: (ms) => durationOf(intl, ms),
  };
}

/** Currencies that share a symbol, which is not used for them: $ means the US dollar only, and kr no currency. */
const SHARED_SYMBOLS: ReadonlySet<string> = new Set('CAD AUD NZD SGD HKD MXN SEK NOK DKK'.split(' '));

type MoneyForm = 'whole' | 'price' | 'short';

function moneyOptions(currency: string, form: MoneyForm): Intl.NumberFormatOptions {
  const currencyDisplay = SHARED_SYMBOLS.has(currency) ? 'code' : 'narrowSymbol';
  const common = { style: 'currency', currency, currencyDisplay } as const;
  if (form === 'price') return { ...common, maximumFractionDigits: PRICE_PLACES };
  if (form === 'whole') return common;
  return { ...common, notation: 'compact', useGrouping: true, maximumFractionDigits: 1, minimumFractionDigits: 0 };
}

/** Rounded towards the present, so that nothing appears older than it is. */
function unitOf(ms: number): [number, Intl.RelativeTimeFormatUnit] {
  if (Math.abs(ms) < MINUTE) return [Math.trunc(ms / SECOND), 'second'];
  return Math.abs(ms) < HOUR ? [Math.trunc(ms / MINUTE), 'minute'] : [Math.trunc(ms / HOUR), 'hour'];
}

function durationOf(intl: string, ms: number): string {
  const [value, unit] =
    ms < MINUTE
      ? ([Math.max(1, Math.round(ms / SECOND)), 'second'] as const)
      : ms < 2 * HOUR
        ? ([Math.round(ms / MINUTE), 'minute'] as const)
        : ([Math.round(ms / HOUR), 'hour'] as const);
  return new Intl.NumberFormat(intl, { style: 'unit', unit, unitDisplay: 'short' }).format(value);
}

/** When a day such as 2026-11-22 begins in the person's time zone; null if there is no such day. */
export function startOfDay(day: string, later = 0): Date | null {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  if (year === undefined) return null;
  const start = new Date(Number(year), Number(month) - 1, Number(date) + later);
  // JavaScript reads February 31st as a day of March.
  const read = new Date(Number(year), Number(month) - 1, Number(date));
  const isReal = read.getMonth() === Number(month) - 1 && read.getDate() === Number(date);
  return isReal && Number(year) >= 1970 ? start : null;
}

/** Names up to this length are abbreviations. */
const MAX_ABBREVIATION = 3;

/** A network's display name, given its name in the API. */
export function networkName(network: string): string {
  if (network.length <= MAX_ABBREVIATION) return network.toUpperCase();
  return network.slice(0, 1).toUpperCase() + network.slice(1);
}
