import { useNavigate, useSearch } from '@tanstack/react-router';
import { startOfDay } from './formats.ts';

/** The rule of a URL parameter: a list of words, a pattern, or a function that reads it. */
type Rule = readonly string[] | RegExp | ((text: string) => string | undefined);
type Rules = Readonly<Record<string, Rule>>;

type Read<One extends Rule> = One extends readonly (infer Word)[]
  ? Word
  : One extends (text: string) => infer Value
    ? Exclude<Value, undefined>
    : string;
export type SearchOf<Table extends Rules> = { readonly [Name in keyof Table]?: Read<Table[Name]> };

/** The raw parameters of a URL. */
export type Given = Readonly<Record<string, unknown>>;

/** Reads parameters by the rule of each. Unknown and malformed ones are dropped. */
export function readSearch<Table extends Rules>(rules: Table, given: Given): SearchOf<Table> {
  const read = Object.entries(rules).map(([name, rule]) => {
    const text = given[name];
    return [name, typeof text === 'string' && text !== '' ? valueOf(rule, text) : undefined] as const;
  });
  return present(Object.fromEntries(read)) as SearchOf<Table>;
}

function valueOf(rule: Rule, text: string): string | undefined {
  if (typeof rule === 'function') return rule(text);
  return (rule instanceof RegExp ? rule.test(text) : rule.includes(text)) ? text : undefined;
}

/** A day such as 2026-01-31. */
export const aDay = (text: string): string | undefined => (startOfDay(text) === null ? undefined : text);

/** Any text, cut at `max` characters. */
export function textUpTo(max: number): (text: string) => string | undefined {
  return (text) => (text.trim() === '' ? undefined : text.slice(0, max));
}

/** The entries with a value. */
export function present<Values extends object>(
  values: Values,
): { readonly [Name in keyof Values]?: Exclude<Values[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Values;
}

/** Periods in days. */
export const PERIODS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const;
export type Period = keyof typeof PERIODS;

export function isPeriod(text: string): text is Period {
  return Object.hasOwn(PERIODS, text);
}

export const PERIOD_NAMES = Object.keys(PERIODS).filter(isPeriod);

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** The begin of a period, rounded to the hour, so that the same list keeps its query key for a while. */
export function beginOf(period: Period | undefined): string | undefined {
  if (period === undefined) return undefined;
  return new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - PERIODS[period] * DAY_MS).toISOString();
}

/** The URL parameters that no rule accepted unchanged, which are ignored. */
export function unreadOf(given: Given, read: object): readonly string[] {
  const taken = new Map<string, unknown>(Object.entries(read));
  return Object.keys(given).filter((name) => (given[name] ?? '') !== '' && taken.get(name) !== given[name]);
}

/** A change of a page's parameters; undefined removes a value. */
export type SearchChange = Readonly<Record<string, string | undefined>>;

/** Parameters that filter no rows: the row in the panel, and the columns. */
const NO_FILTERS: readonly string[] = ['show', 'columns'];

/** The parameters of a page, which are in its URL. The route passes them on unchanged: `read` comes with the page. */
export function usePageSearch<Search extends object>(read: (given: Given) => Search) {
  const params: Given = useSearch({ strict: false });
  const search: Search & { readonly show?: string } = read(params);
  const navigate = useNavigate();
  const filters = Object.keys(search).filter((name) => !NO_FILTERS.includes(name));
  /** By default the URL is replaced: the back button leads to the page before. */
  const onChange = (change: SearchChange, replace = true): void =>
    void navigate({ to: '.', search: (before: object) => read({ ...before, ...change }), replace, resetScroll: false });
  return {
    search,
    isNarrowed: filters.length > 0,
    unread: unreadOf(params, search),
    onChange,
    onClear: () => onChange(Object.fromEntries(filters.map((name) => [name, undefined]))),
    onShow: (show: string | undefined): void => onChange({ show }, show !== undefined && search.show !== undefined),
  };
}
