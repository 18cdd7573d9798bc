import { reads } from '../../api.ts';
import type { Scope } from '../../scope.ts';

/** Uses are saved at intervals, and no stream reports them. */
const EVERY_MS = 30_000;

export function keysKey({ project, mode }: Scope): readonly unknown[] {
  return ['keys', project, mode];
}

export function keysQuery(scope: Scope) {
  const query = reads(keysKey(scope), 'GET /dashboard/api/projects/:project/:mode/keys', { params: scope });
  return { ...query, refetchInterval: EVERY_MS };
}

export function accessQuery({ project }: Scope) {
  return reads(['access'], 'GET /dashboard/api/projects/:project/access', { params: { project } });
}
