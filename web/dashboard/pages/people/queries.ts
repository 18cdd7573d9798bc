import { queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api.ts';

export function peopleQuery(api: Api) {
  return queryOptions({
    queryKey: PEOPLE_KEY,
    queryFn: async ({ signal }) => (await api('GET /dashboard/api/people', undefined, signal)).data,
  });
}

/** The prefix of what is read again after a change of people. */
export const PEOPLE_KEY = ['people'];

export function sessionsOfQuery(api: Api, person: string) {
  return queryOptions({
    queryKey: [...PEOPLE_KEY, person, 'sessions'],
    queryFn: async ({ signal }) =>
      (await api('GET /dashboard/api/people/:person/sessions', { params: { person } }, signal)).data,
  });
}
