import { queryOptions, useMutation } from '@tanstack/react-query';
import type { Api } from '../../api.ts';
import { type Scope, useScope } from '../../scope.ts';
import { projectKey } from '../payments/queries.ts';
import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';
import type { BodyOf } from '../../../../src/http/dashboard/contract.ts';
import { useDashboard } from '../../dashboard.ts';

/** The server notices what is new and says so; this is for a server whose workers are away. */
const EVERY_MS = 5 * 60_000;

/** The prefix of all query keys of what needs attention. */
export function attentionKey(scope: Scope): readonly unknown[] {
  return [...projectKey(scope), 'attention'];
}

const LIST = 'GET /dashboard/api/projects/:project/:mode/attention';

export function attentionQuery(api: Api, scope: Scope) {
  return queryOptions({
    queryKey: [...attentionKey(scope), 'list'],
    queryFn: ({ signal }) => api(LIST, { params: { ...scope } }, signal),
    refetchInterval: EVERY_MS,
  });
}

/** How much there is, for the navigation. */
export function attentionCountQuery(api: Api, scope: Scope) {
  return queryOptions({
    queryKey: [...attentionKey(scope), 'count'],
    queryFn: ({ signal }) => api(`${LIST}/count`, { params: { ...scope } }, signal),
    refetchInterval: EVERY_MS,
  });
}

const MARK = 'POST /dashboard/api/projects/:project/:mode/attention/mark';
type Change = Pick<BodyOf<typeof MARK>, 'assigned_to' | 'note' | 'done'>;

interface Marked {
  readonly item: AttentionView;
  readonly change: Change;
}

/** Writes to one occurrence. Whatever is answered, the list then shows how it is. */
export function useMark(onDone?: (marked: Marked) => void) {
  const { api, queries } = useDashboard();
  const scope = useScope();
  return useMutation({
    mutationFn: ({ item: { kind, subject, occurrence, version }, change }: Marked) =>
      api(MARK, { params: { ...scope }, body: { kind, subject, occurrence, version, ...change } }),
    onSuccess: (list, marked) => {
      queries.setQueryData(attentionQuery(api, scope).queryKey, list);
      void queries.invalidateQueries({ queryKey: attentionCountQuery(api, scope).queryKey });
      onDone?.(marked);
    },
    onError: () => queries.invalidateQueries({ queryKey: attentionKey(scope) }),
  });
}
