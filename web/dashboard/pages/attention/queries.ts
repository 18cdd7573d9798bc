import { reads } from '../../api.ts';
import { useChange } from '../../change.ts';
import { type Scope, useScope } from '../../scope.ts';
import { projectKey } from '../payments/queries.ts';
import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';
import type { BodyOf } from '../../../../src/http/dashboard/contract.ts';

/** The server notices what is new and says so; this is for a server whose workers are away. */
const EVERY_MS = 5 * 60_000;

/** The prefix of all query keys of what needs attention. */
export function attentionKey(scope: Scope): readonly unknown[] {
  return [...projectKey(scope), 'attention'];
}

const LIST = 'GET /dashboard/api/projects/:project/:mode/attention';

export function attentionQuery(scope: Scope) {
  return { ...reads([...attentionKey(scope), 'list'], LIST, { params: scope }), refetchInterval: EVERY_MS };
}

/** How much there is, for the navigation. */
export function attentionCountQuery(scope: Scope) {
  return { ...reads([...attentionKey(scope), 'count'], `${LIST}/count`, { params: scope }), refetchInterval: EVERY_MS };
}

const MARK = 'POST /dashboard/api/projects/:project/:mode/attention/mark';
type Change = Pick<BodyOf<typeof MARK>, 'assigned_to' | 'note' | 'done'>;

interface Marked {
  readonly item: AttentionView;
  readonly change: Change;
}

/** Writes to one occurrence. Whatever is answered, the list then shows how it is. */
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
