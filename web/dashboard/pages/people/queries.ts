import { queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api.ts';

export function peopleQuery(api: Api) {
  return queryOptions({
    queryKey: ['people'],
    queryFn: async ({ signal }) => (await api('GET /dashboard/api/people', undefined, signal)).data,
  });
}

export function sessionsOfQuery(api: Api, person: string) {
  return queryOptions({
    queryKey: ['people', person, 'sessions'],
    queryFn: async ({ signal }) =>
      (await api('GET /dashboard/api/people/:person/sessions', { params: { person } }, signal)).data,
  });
}
