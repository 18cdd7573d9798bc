import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { projectKey } from '../payments/queries.ts';

export const HOME_PERIODS = ['7d', '30d', '90d'] as const;
export type HomePeriod = (typeof HOME_PERIODS)[number];

/** The figures of a period. */
export function homeQuery(api: Api, scope: Scope, period: HomePeriod) {
  return queryOptions({
    queryKey: [...projectKey(scope), 'home', period],
    queryFn: ({ signal }) =>
      api('GET /dashboard/api/projects/:project/:mode/home', { params: { ...scope }, query: { period } }, signal),
    placeholderData: keepPreviousData,
  });
}
