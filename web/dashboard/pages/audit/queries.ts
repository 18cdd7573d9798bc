import { infiniteQueryOptions } from '@tanstack/react-query';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { filtersOf, type AuditSearch } from './search.ts';

/** The log, page by page, newest first. */
export function auditQuery(api: Api, { project }: Pick<Scope, 'project'>, search: AuditSearch) {
  return infiniteQueryOptions({
    queryKey: ['audit', project, search],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...filtersOf(search), ...(pageParam !== null && { after: pageParam }) };
      return search.of === 'all'
        ? api('GET /dashboard/api/audit', { query }, signal)
        : api('GET /dashboard/api/projects/:project/audit', { params: { project }, query }, signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    refetchOnMount: 'always',
  });
}
