import { reads } from '../../api.ts';
import { projectKey } from '../payments/queries.ts';
import type { Scope } from '../../scope.ts';

/** The server reports new items; polling is for a server whose workers are down. */
const EVERY_MS = 5 * 60_000;

/** The prefix of all query keys of attention items. */
export function attentionKey(scope: Scope): readonly unknown[] {
  return [...projectKey(scope), 'attention'];
}

const LIST = 'GET /dashboard/api/projects/:project/:mode/attention';

export function attentionQuery(scope: Scope) {
  return { ...reads([...attentionKey(scope), 'list'], LIST, { params: scope }), refetchInterval: EVERY_MS };
}

/** The number of items, for the navigation. */
export function attentionCountQuery(scope: Scope) {
  return { ...reads([...attentionKey(scope), 'count'], `${LIST}/count`, { params: scope }), refetchInterval: EVERY_MS };
}
