import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Api } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { problemOf } from '../../problem.ts';
import { sessionQuery, type SessionAnswer } from '../../session.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';

interface AccountDialogProps {
  readonly name: string;
  readonly text: string;
  readonly isDirty: boolean;
  /** The fields that say themselves what is wrong with them, as the server names them. */
  readonly fields: readonly string[];
  readonly send: (api: Api) => Promise<SessionAnswer>;
  /** What to say once it is done. */
  readonly done: string;
  readonly onClose: () => void;
  /** The fields, by what is wrong with each. */
  readonly children: (problem: (field: string) => string | null) => ReactNode;
}

/** Asks for a change of the account; what it makes of the session is taken in. */
export function AccountDialog({ send, done, onClose, children, ...rest }: AccountDialogProps) {
  const { api, queries, toast } = useDashboard();
  const change = useMutation({
    mutationFn: () => send(api),
    onSuccess: (session) => {
      queries.setQueryData(sessionQuery(api).queryKey, session);
      void queries.invalidateQueries({ queryKey: ['sessions'] });
      toast(done);
      onClose();
    },
  });
  return (
    <FormDialog {...rest} action={change} onClose={onClose}>
      {children((field) => problemOf(change.error, field))}
    </FormDialog>
  );
}
