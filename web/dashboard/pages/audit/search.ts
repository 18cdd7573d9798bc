import type { AuditFilters } from '../../../../src/http/dashboard/audit/contract.ts';
import { startOfDay } from '../../formats.ts';

/** The log's filters as they stand in the URL. */
export interface AuditSearch {
  /** A kind of actors, or a person's or key's id. */
  readonly who?: string;
  readonly what?: string;
  /** Days in the person's time zone, both included. */
  readonly from?: string;
  readonly to?: string;
  /** `all`: of all projects. */
  readonly of?: string;
}

export const GROUPS = [
  'key',
  'webhook',
  'wallet',
  'refund',
  'report',
  'payment',
  'person',
  'session',
  'sweep',
  'project',
  'attention',
  'view',
  'audit',
] as const satisfies readonly NonNullable<AuditFilters['what']>[];

export const KINDS = ['person', 'command', 'key', 'service'] as const;

/** Reads the search from a URL's query. Unknown values are dropped. */
export function auditSearch(given: Readonly<Record<string, unknown>>): AuditSearch {
  const word = (name: 'who' | 'what' | 'from' | 'to' | 'of'): string | undefined => {
    const value = given[name];
    if (typeof value !== 'string' || value === '') return undefined;
    const isKnown = {
      who: /^[\w-]{1,64}$/.test(value),
      what: GROUPS.some((one) => one === value),
      from: startOfDay(value) !== null,
      to: startOfDay(value) !== null,
      of: value === 'all',
    };
    return isKnown[name] ? value : undefined;
  };
  const names = ['who', 'what', 'from', 'to', 'of'] as const;
  return Object.fromEntries(names.map((name) => [name, word(name)]).filter(([, value]) => value !== undefined));
}

export function isNarrowed({ who, what, from, to }: AuditSearch): boolean {
  return [who, what, from, to].some((one) => one !== undefined);
}

/** The filters as the server takes them. */
export function filtersOf({ who, what, from, to }: AuditSearch): AuditFilters {
  const group = GROUPS.find((one) => one === what);
  const start = from === undefined ? null : startOfDay(from);
  const end = to === undefined ? null : startOfDay(to, 1);
  return {
    ...(who !== undefined && { who }),
    ...(group !== undefined && { what: group }),
    ...(start !== null && { from: start.toISOString() }),
    ...(end !== null && { before: end.toISOString() }),
  };
}
