import { queryOptions } from '@tanstack/react-query';
import type { DeliveryFilters } from '../../../../src/http/dashboard/deliveries/contract.ts';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { logQueries } from '../log/use-log.ts';
import { projectKey } from '../payments/queries.ts';

const SCOPE = '/dashboard/api/projects/:project/:mode';

/** The prefix of what is requested again when something was sent to an endpoint. */
export function webhooksKey(scope: Scope): readonly unknown[] {
  return [...projectKey(scope), 'webhooks'];
}

/** The endpoints with their health, and every type of event. */
export function endpointsQuery(api: Api, scope: Scope) {
  return queryOptions({
    queryKey: [...webhooksKey(scope), 'endpoints'],
    queryFn: ({ signal }) => api(`GET ${SCOPE}/webhooks`, { params: { ...scope } }, signal),
  });
}

/** Deliveries to all endpoints. */
export function deliveryLog(api: Api, scope: Scope, filters: DeliveryFilters) {
  return logQueries(scope, 'deliveries', filters, {
    read: (after, signal) =>
      api(`GET ${SCOPE}/deliveries`, { params: { ...scope }, query: { ...filters, ...after } }, signal),
  });
}

const UNDER_WAY_MS = 1_000;

export function deliveryQuery(api: Api, scope: Scope, delivery: string) {
  return queryOptions({
    queryKey: [...webhooksKey(scope), 'delivery', delivery],
    queryFn: ({ signal }) => api(`GET ${SCOPE}/deliveries/:delivery`, { params: { ...scope, delivery } }, signal),
    // Its first attempt is under way; later ones are reported by the stream.
    refetchInterval: ({ state: { data } }) =>
      data?.state === 'waiting' && data.attempts.length === 0 ? UNDER_WAY_MS : false,
  });
}

export function runningRetryQuery(api: Api, scope: Scope) {
  return queryOptions({
    queryKey: [...projectKey(scope), 'running-retry'],
    queryFn: ({ signal }) => api(`GET ${SCOPE}/delivery-retries`, { params: { ...scope } }, signal),
    // The page follows it until it leaves, and so shows how it ended.
    staleTime: Infinity,
    refetchOnMount: 'always',
  });
}

/** How far deliveries are that are sent again together. */
export function retryQuery(api: Api, scope: Scope, retry: string) {
  return queryOptions({
    queryKey: [...projectKey(scope), 'retry', retry],
    queryFn: ({ signal }) => api(`GET ${SCOPE}/delivery-retries/:retry`, { params: { ...scope, retry } }, signal),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && data.stopped_at === null && data.done < data.total ? UNDER_WAY_MS : false,
  });
}
