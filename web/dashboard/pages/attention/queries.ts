import { reads } from '../../api.ts';
import { useChange } from '../../change.ts';
import { projectKey } from '../payments/queries.ts';
import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';
import type { BodyOf } from '../../../../src/http/dashboard/contract.ts';
import { type Scope, useScope } from '../../scope.ts';

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

const MARK = 'POST /dashboard/api/projects/:project/:mode/attention/mark';
type Change = Pick<BodyOf<typeof MARK>, 'assigned_to' | 'note' | 'done'>;

interface Marked {
  readonly item: AttentionView;
  readonly change: Change;
}

/** Changes one item. After any answer the list is read again. */
export function useMark(onDone?: (marked: Marked) => void) {
  const scope = useScope();
  return useChange({
    send: (api, { item: { kind, subject, occurrence, version }, change }: Marked) =>
      api(MARK, { params: scope, body: { kind, subject, occurrence, version, ...change } }),
    shows: attentionQuery(scope),
    stale: attentionCountQuery(scope).queryKey,
    onDone: (_list, marked) => onDone?.(marked),
  });
}
