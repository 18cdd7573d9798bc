import { queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';

export const KEYS = 'GET /dashboard/api/projects/:project/:mode/keys';
const ACCESS = 'GET /dashboard/api/projects/:project/access';
/** Uses are saved every while, and no stream reports them. */
const EVERY_MS = 30_000;

export function keysKey({ project, mode }: Scope): readonly unknown[] {
  return ['keys', project, mode];
}

export function keysQuery(api: Api, scope: Scope) {
  return queryOptions({
    queryKey: keysKey(scope),
    queryFn: ({ signal }) => api(KEYS, { params: { ...scope } }, signal),
    refetchInterval: EVERY_MS,
  });
}

export function accessQuery(api: Api, { project }: Pick<Scope, 'project'>) {
  return queryOptions({
    queryKey: ['access', project],
    queryFn: ({ signal }) => api(ACCESS, { params: { project } }, signal),
  });
}
