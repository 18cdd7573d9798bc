import { useEffect } from 'react';
import { reads, urlOf } from '../api.ts';
import { useDashboard, useStore } from '../dashboard.ts';
import { followStream } from '../live.ts';
import type { Scope } from '../scope.ts';

const salesKey = ({ project, mode }: Scope) => ['till', project, mode, 'sales'];

export const tillQuery = (scope: Scope) => ({
  ...reads(['till', scope.project, scope.mode], 'GET /dashboard/api/projects/:project/:mode/till', {
    params: { ...scope },
  }),
  staleTime: Infinity,
});

export const saleQuery = (scope: Scope, payment: string) =>
  reads(salesKey(scope), 'GET /dashboard/api/projects/:project/:mode/till/sales/:payment', {
    params: { ...scope, payment },
  });

export const todayQuery = (scope: Scope, zone: string) =>
  reads(salesKey(scope), 'GET /dashboard/api/projects/:project/:mode/till/sales', {
    params: { ...scope },
    query: { zone },
  });

/** How often the sale is read while the stream of changes is lost. */
const LOST_MS = 3_000;

/** Keeps the sales up to date, by the stream of changes or, while that is lost, by reading them again and again. */
export function useTillLive(scope: Scope): void {
  const dashboard = useDashboard();
  const isLost = useStore(dashboard.connection) === 'lost';
  const { queries, isOutdated, refreshSession } = dashboard;
  useEffect(() => {
    const read = (): void => void queries.invalidateQueries({ queryKey: salesKey(scope) });
    const url = urlOf('/dashboard/api/projects/:project/:mode/till/events', { params: { ...scope } });
    return followStream(dashboard, url, (message) => {
      if (message.kind === 'session') refreshSession();
      else if (message.kind !== 'version') read();
    });
  }, [dashboard, queries, isOutdated, refreshSession, scope.project, scope.mode]);
  useEffect(() => {
    if (!isLost) return undefined;
    const timer = setInterval(() => void queries.invalidateQueries({ queryKey: salesKey(scope) }), LOST_MS);
    return () => clearInterval(timer);
  }, [isLost, queries, scope.project, scope.mode]);
}
