import { useMutation, type DataTag, type QueryKey } from '@tanstack/react-query';
import type { Api } from './api.ts';
import { useDashboard } from './dashboard.ts';

export interface Change<Answer, Input> {
  readonly send: (api: Api, input: Input) => Promise<Answer>;
  /**
   * The query that the answer belongs to. After a refusal it is read again: somebody else may have changed the record.
   */
  readonly shows?: { readonly queryKey: DataTag<QueryKey, Answer, Error> };
  /** The key of further queries that are read again after any answer. */
  readonly stale?: QueryKey;
  /** The toast after success; null: none. */
  readonly done?: string | ((answer: Answer) => string | null);
  readonly onDone?: (answer: Answer, input: Input) => unknown;
  readonly onRefused?: (error: Error) => void;
}

/** A change by the person, as a mutation: reports its success and updates the pages. */
export function useChange<Answer, Input = void>({
  send,
  shows,
  stale,
  done,
  onDone,
  onRefused,
}: Change<Answer, Input>) {
  const { api, queries, toast, changedAt } = useDashboard();
  return useMutation({
    mutationFn: (input: Input) => send(api, input),
    onSuccess: (answer, input) => {
      changedAt.set(performance.now());
      if (shows !== undefined) queries.setQueryData<Answer>(shows.queryKey, answer);
      const text = typeof done === 'function' ? done(answer) : done;
      if (typeof text === 'string') toast(text);
      return onDone?.(answer, input);
    },
    onError: (error) => {
      if (shows !== undefined) void queries.invalidateQueries({ queryKey: shows.queryKey });
      onRefused?.(error);
    },
    // Nobody waits for the list: a dialog continues at once.
    onSettled: () => void (stale !== undefined && queries.invalidateQueries({ queryKey: stale })),
  });
}
