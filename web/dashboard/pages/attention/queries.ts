import { queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { projectKey } from '../payments/queries.ts';

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
