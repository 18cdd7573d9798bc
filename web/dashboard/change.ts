import { useMutation, type QueryKey } from '@tanstack/react-query';
import type { Api } from './api.ts';
import { useDashboard } from './dashboard.ts';

interface Change<Answer, Input> {
  readonly send: (api: Api, input: Input) => Promise<Answer>;
  /** The key of the queries that are read again, whatever was answered: somebody else may have changed them too. */
  readonly stale?: QueryKey;
  /** The toast after success. */
  readonly done?: string | undefined;
  readonly onDone?: (answer: Answer, input: Input) => void;
}

/** A change that the person makes, as a mutation: says that it succeeded and lets the pages read again. */
export function useChange<Answer, Input = void>({ send, stale, done, onDone }: Change<Answer, Input>) {
  const { api, queries, toast } = useDashboard();
  return useMutation({
    mutationFn: (input: Input) => send(api, input),
    onSuccess: (answer, input) => {
      if (done !== undefined) toast(done);
      onDone?.(answer, input);
    },
    // Nobody waits for the list: a dialog goes on at once.
    onSettled: () => void (stale !== undefined && queries.invalidateQueries({ queryKey: stale })),
  });
}
