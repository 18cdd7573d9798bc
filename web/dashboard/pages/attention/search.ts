import { ATTENTION_KINDS } from '../../../../src/domain/attention.ts';
import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';
import { readSearch, type Given, type SearchOf } from '../../search.ts';

/** Least values, in each payment's own currency, because nobody would recognise a converted amount. */
export const WORTHS = ['10', '100', '1000'] as const;

/** The filters of the items, and the payment in the panel, in the URL. */
const RULES = {
  who: ['me', 'nobody'],
  kind: ATTENTION_KINDS,
  worth: WORTHS,
  show: /^[\w-]{1,64}$/,
} as const;
export type AttentionSearch = SearchOf<typeof RULES>;

export function attentionSearch(given: Given): AttentionSearch {
  return readSearch(RULES, given);
}

/** Whether the filters let an item through. */
export function isWanted({ who, kind, worth }: AttentionSearch, item: AttentionView, me: string): boolean {
  const { assigned_to: assigned } = item;
  if (who === 'me' && assigned?.id !== me) return false;
  if (who === 'nobody' && assigned !== null) return false;
  if (kind !== undefined && item.kind !== kind) return false;
  return worth === undefined || Number(item.worth?.amount ?? item.usd ?? 0) >= Number(worth);
}
