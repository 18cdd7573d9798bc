import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';
import type { AnswerOf, BodyOf } from '../../../../src/http/dashboard/contract.ts';
import { useChange } from '../../change.ts';
import { useDashboard } from '../../dashboard.ts';
import { useScope } from '../../scope.ts';
import { attentionCountQuery, attentionQuery } from './queries.ts';

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

const MARK_MANY = 'POST /dashboard/api/projects/:project/:mode/attention/mark-many';
type MarkedItem = BodyOf<typeof MARK_MANY>['items'][number];
export type MarkFailure = AnswerOf<typeof MARK_MANY>['failed'][number];

/** An item with its change, in the version that the person saw. */
export function markOf(item: AttentionView, change: Pick<MarkedItem, 'assigned_to' | 'done'>): MarkedItem {
  const { kind, subject, occurrence, version } = item;
  return { kind, subject, occurrence, version, ...change };
}

/** Sends the changes of several items; the list is that of the answer. */
export function useMarkMany() {
  const scope = useScope();
  const { api, queries } = useDashboard();
  return async (items: readonly MarkedItem[]): Promise<readonly MarkFailure[]> => {
    const { list, failed } = await api(MARK_MANY, { params: { ...scope }, body: { items: [...items] } });
    queries.setQueryData(attentionQuery(scope).queryKey, list);
    void queries.invalidateQueries({ queryKey: attentionCountQuery(scope).queryKey });
    return failed;
  };
}
