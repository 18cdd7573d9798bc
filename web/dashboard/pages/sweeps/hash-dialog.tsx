import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { SweepView } from '../../../../src/http/dashboard/contract/sweeps.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { SWEEPS, sweepsKey } from './queries.ts';

interface HashDialogProps {
  readonly sweep: SweepView;
  readonly onClose: () => void;
}

/** Takes the hash of what a wallet sent after its tab was closed, or from another machine. */
export function HashDialog({ sweep, onClose }: HashDialogProps) {
  const { t } = useLocale('sweeps');
  const { api, queries } = useDashboard();
  const scope = useScope();
  const [hash, setHash] = useState('');
  const save = useMutation({
    mutationFn: () =>
      api(`POST ${SWEEPS}/:sweep/sent`, { params: { ...scope, sweep: sweep.id }, body: { hash: hash.trim() } }),
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: sweepsKey(scope) }),
  });
  return (
    <FormDialog
      onClose={onClose}
      isDirty={hash !== ''}
      fields={['hash']}
      name={t('give_hash')}
      text={t('give_hash_text')}
      action={save}
    >
      <Field
        label={t('sweep_transaction')}
        name="hash"
        autoComplete="off"
        spellCheck={false}
        max={80}
        value={hash}
        problem={problemOf(save.error, 'hash')}
        onValue={setHash}
      />
    </FormDialog>
  );
}
