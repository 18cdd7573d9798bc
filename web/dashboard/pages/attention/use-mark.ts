import { useMutation } from '@tanstack/react-query';
import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';
import type { BodyOf } from '../../../../src/http/dashboard/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useScope } from '../../scope.ts';
import { attentionCountQuery, attentionKey, attentionQuery } from './queries.ts';

const MARK = 'POST /dashboard/api/projects/:project/:mode/attention/mark';
export type Change = Pick<BodyOf<typeof MARK>, 'assigned_to' | 'note' | 'done'>;

interface Marked {
  readonly item: AttentionView;
  readonly change: Change;
}

/** Writes to one occurrence. Whatever is answered, the list then shows how it is. */
export function useMark(onDone?: (marked: Marked) => void) {
  const { api, queries } = useDashboard();
  const scope = useScope();
  return useMutation({
    mutationFn: ({ item: { kind, subject, occurrence, version }, change }: Marked) =>
      api(MARK, { params: { ...scope }, body: { kind, subject, occurrence, version, ...change } }),
    onSuccess: (list, marked) => {
      queries.setQueryData(attentionQuery(api, scope).queryKey, list);
      void queries.invalidateQueries({ queryKey: attentionCountQuery(api, scope).queryKey });
      onDone?.(marked);
    },
    onError: () => queries.invalidateQueries({ queryKey: attentionKey(scope) }),
  });
}
