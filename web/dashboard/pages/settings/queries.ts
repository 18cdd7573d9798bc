import { queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api.ts';

export const SETTINGS = 'GET /dashboard/api/projects/:project/settings';

export function settingsQuery(api: Api, project: string) {
  return queryOptions({
    queryKey: ['settings', project],
    queryFn: ({ signal }) => api(SETTINGS, { params: { project } }, signal),
  });
}
