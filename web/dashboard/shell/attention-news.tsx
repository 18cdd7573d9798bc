import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useDashboard } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { attentionQuery } from '../pages/attention/queries.ts';
import { describe } from '../pages/attention/sentence.ts';
import type { Scope } from '../scope.ts';

/** The items that came since the last announcement. */
export interface News {
  readonly scope: Scope;
  /** The number of the newest item that is not announced. */
  readonly after: number;
  /** Items that existed when the page opened, and had no number yet. */
  readonly known: readonly string[];
}

/** Announces new items: the item itself, or their number. */
export function AttentionNews({ scope, after, known, onShown }: News & { readonly onShown: () => void }) {
  const locale = useLocale('attention');
  const { toast } = useDashboard();
  // Without the cache, which may be older.
  const { data, isFetchedAfterMount, isError } = useQuery({ ...attentionQuery(scope), refetchOnMount: 'always' });
  const isReady = isFetchedAfterMount || isError;
  useEffect(() => {
    if (!isReady) return;
    const fresh = (data?.data ?? []).filter(
      ({ noticed, identity }) => noticed !== null && noticed > after && !known.includes(identity),
    );
    const [first] = fresh;
    if (first !== undefined) {
      const { title } = describe(first, locale);
      toast(fresh.length === 1 ? title : locale.t('attention_news', { count: fresh.length, title }), 'news');
    }
    onShown();
    // Announced once, even if it is rendered again.
  }, [isReady]);
  return null;
}
