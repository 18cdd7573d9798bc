import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import type { SessionAnswer, SessionProject, SignedIn } from '../../src/http/dashboard/contract/account.ts';
import type { Api } from './api.ts';
import { useDashboard } from './dashboard.ts';

export type { SessionAnswer, SessionProject, SignedIn };

/** Who asks, and what they may do. */
export function sessionQuery(api: Api) {
  return queryOptions({
    queryKey: ['session'],
    queryFn: ({ signal }) => api('GET /dashboard/api/session', undefined, signal),
    staleTime: 60_000,
  });
}

/** Who is signed in; for pages that nobody else sees. */
export function useSignedIn(): SignedIn {
  const { api } = useDashboard();
  const { data } = useSuspenseQuery(sessionQuery(api));
  if (data.state !== 'signed_in') throw new SignedOut();
  return data;
}

/** The session ended between two renderings; whoever catches it shows the sign-in. */
export class SignedOut extends Error {
  override readonly name = 'SignedOut';
}
