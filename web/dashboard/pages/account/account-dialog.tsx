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
  /** The server's names of the fields that show their own errors. */
  readonly fields: readonly string[];
  readonly send: (api: Api) => Promise<SessionAnswer>;
  /** The toast after success. */
  readonly done: (session: SessionAnswer) => string;
  readonly onClose: () => void;
  /** Renders the fields, given the error of each. */
  readonly children: (problem: (field: string) => string | null) => ReactNode;
}

/** A dialog that changes the account and takes over the session from the answer. */
export function AccountDialog({ send, done, onClose, children, ...rest }: AccountDialogProps) {
  const { api, queries, toast } = useDashboard();
  const change = useMutation({
    mutationFn: () => send(api),
    onSuccess: (session) => {
      queries.setQueryData(sessionQuery(api).queryKey, session);
      void queries.invalidateQueries({ queryKey: ['sessions'] });
      toast(done(session));
      onClose();
    },
  });
  return (
    <FormDialog {...rest} action={change} onClose={onClose}>
      {children((field) => problemOf(change.error, field))}
    </FormDialog>
  );
}
