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
  /** The number of the newest that needs no word. */
  readonly after: number;
  /** The items that were there when the page opened, and had no number yet. */
  readonly known: readonly string[];
}

/** Says what began to need attention: what it is, or how much there is. */
export function AttentionNews({ scope, after, known, onShown }: News & { readonly onShown: () => void }) {
  const locale = useLocale('attention');
  const { toast } = useDashboard();
  // Not what is in the cache: it may be from before.
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
    // Said once, whatever is rendered again.
  }, [isReady]);
  return null;
}
