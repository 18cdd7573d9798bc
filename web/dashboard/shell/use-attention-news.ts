import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useDashboard } from '../dashboard.ts';
import { attentionCountQuery } from '../pages/attention/queries.ts';
import type { Scope } from '../scope.ts';

/** What came since it was last said what there is. */
export interface News {
  readonly scope: Scope;
  /** The number of the newest that needs no word. */
  readonly after: number;
  /** What was there when the page opened, and had no number yet. */
  readonly known: readonly string[];
}

/**
 * Notices in an open page what begins to need attention, once, also what came while the connection was lost. What was
 * there when the page opened is no news.
 */
export function useAttentionNews(scope: Scope | null): readonly [News | null, () => void] {
  const { api } = useDashboard();
  const [news, setNews] = useState<News | null>(null);
  const said = useRef(new Map<string, Omit<News, 'scope'>>());
  const { data } = useQuery({
    ...attentionCountQuery(api, scope ?? { project: '', mode: 'test' }),
    enabled: scope !== null,
  });
  useEffect(() => {
    if (scope === null || data === undefined) return;
    const key = `${scope.project} ${scope.mode}`;
    const before = said.current.get(key);
    if (before === undefined) said.current.set(key, { after: data.newest, known: data.unnoticed });
    else if (data.newest > before.after) {
      said.current.set(key, { ...before, after: data.newest });
      setNews((waiting) => waiting ?? { scope, ...before });
    }
  }, [scope?.project, scope?.mode, data]);
  return [news, () => setNews(null)];
}
