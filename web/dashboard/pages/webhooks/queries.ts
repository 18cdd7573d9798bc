import { queryOptions } from '@tanstack/react-query';
import { reads } from '../../api.ts';
import { projectKey } from '../payments/queries.ts';
import type { Scope } from '../../scope.ts';

const SCOPE = '/dashboard/api/projects/:project/:mode';

/** The prefix of the queries that are read again after a delivery attempt. */
export function webhooksKey(scope: Scope): readonly unknown[] {
  return [...projectKey(scope), 'webhooks'];
}

/** The endpoints with their health, and every type of event. */
export function endpointsQuery(scope: Scope) {
  return reads([...webhooksKey(scope), 'endpoints'], `GET ${SCOPE}/webhooks`, { params: scope });
}

const UNDER_WAY_MS = 1_000;

export function deliveryQuery(scope: Scope, delivery: string) {
  return queryOptions({
    ...reads([...webhooksKey(scope), 'delivery'], `GET ${SCOPE}/deliveries/:delivery`, {
      params: { ...scope, delivery },
    }),
    // Its first attempt is under way; later ones are reported by the stream.
    refetchInterval: ({ state: { data } }) =>
      data?.state === 'waiting' && data.attempts.length === 0 ? UNDER_WAY_MS : false,
  });
}

export function runningRetryQuery(scope: Scope) {
  const query = reads([...projectKey(scope), 'running-retry'], `GET ${SCOPE}/delivery-retries`, { params: scope });
  // The page follows it until the person leaves, and so shows its end.
  return { ...query, staleTime: Infinity, refetchOnMount: 'always' as const };
}

/** The progress of deliveries that are sent again together. */
export function retryQuery(scope: Scope, retry: string) {
  return queryOptions({
    ...reads([...projectKey(scope), 'retry'], `GET ${SCOPE}/delivery-retries/:retry`, { params: { ...scope, retry } }),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && data.stopped_at === null && data.done < data.total ? UNDER_WAY_MS : false,
  });
}
