import { reads } from '../../api.ts';

/** The prefix of what is read again after a change of people. */
export const PEOPLE_KEY = ['people'];

export const peopleQuery = reads(PEOPLE_KEY, 'GET /dashboard/api/people');

export function sessionsOfQuery(person: string) {
  return reads(PEOPLE_KEY, 'GET /dashboard/api/people/:person/sessions', { params: { person } });
}
