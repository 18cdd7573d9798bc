import { useMutation } from '@tanstack/react-query';
import type { Api } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { sessionQuery, type SessionAnswer } from '../../session.ts';

interface AccountChange {
  readonly send: (api: Api) => Promise<SessionAnswer>;
  /** What to say once it is done. */
  readonly done: string;
  readonly onClose: () => void;
}

/** A change of the account that a dialog asks for; what it makes of the session is taken in. */
export function useAccountChange({ send, done, onClose }: AccountChange) {
  const { api, queries, toast } = useDashboard();
  return useMutation({
    mutationFn: () => send(api),
    onSuccess: (session) => {
      queries.setQueryData(sessionQuery(api).queryKey, session);
      void queries.invalidateQueries({ queryKey: ['sessions'] });
      toast(done);
      onClose();
    },
  });
}
