import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { projectKey } from '../payments/queries.ts';
import type { HomeSearch } from './search.ts';

/** The figures of some days of a time zone. */
export function homeQuery(api: Api, scope: Scope, search: HomeSearch, zone: string) {
  return queryOptions({
    queryKey: [...projectKey(scope), 'home', search, zone],
    queryFn: ({ signal }) =>
      api(
        'GET /dashboard/api/projects/:project/:mode/home',
        { params: { ...scope }, query: { ...search, zone } },
        signal,
      ),
    placeholderData: keepPreviousData,
  });
}
