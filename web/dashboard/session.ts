import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import type { SessionAnswer, SessionProject, SignedIn } from '../../src/http/dashboard/account/contract.ts';
import type { Api } from './api.ts';
import { SESSION_KEY, useDashboard } from './dashboard.ts';

export type { SessionAnswer, SessionProject, SignedIn };

/** Who is signed in, and what they may do. */
export function sessionQuery(api: Api) {
  return queryOptions({
    queryKey: SESSION_KEY,
    queryFn: ({ signal }) => api('GET /dashboard/api/session', undefined, signal),
    staleTime: 60_000,
  });
}

/** The session, for pages that require one. */
export function useSignedIn(): SignedIn {
  const { api } = useDashboard();
  const { data } = useSuspenseQuery(sessionQuery(api));
  if (data.state !== 'signed_in') throw new SignedOut();
  return data;
}

/** The session ended between two renderings. Error boundaries leave this to the sign-in dialog. */
export class SignedOut extends Error {
  override readonly name = 'SignedOut';
}
