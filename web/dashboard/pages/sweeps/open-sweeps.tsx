import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { SweepView } from '../../../../src/http/dashboard/sweeps/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemText, problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Short } from '../../ui/copy.tsx';
import { Ago } from '../../ui/moment.tsx';
import { Notice } from '../../ui/notice.tsx';
import rows from '../account/account.module.css';
import { Amounts } from './amounts.tsx';
import { SWEEPS, sweepsKey } from './queries.ts';
import { SweepState } from './sweep-state.tsx';
import css from './sweeps.module.css';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Field } from '../../ui/field.tsx';

interface OpenSweepsProps {
  readonly sweeps: readonly SweepView[];
  readonly maySend: boolean;
}

/** Sweeps on their way, whoever sent them and from which tab. */
export function OpenSweeps({ sweeps, maySend }: OpenSweepsProps) {
  const { t } = useLocale('sweeps');
  const [hashOf, setHashOf] = useState<SweepView | null>(null);
  if (sweeps.length === 0) return null;
  return (
    <Card title={t('sweeps_under_way')}>
      <ul aria-label={t('sweeps_under_way')}>
        {sweeps.map((sweep) => (
          <OpenRow key={sweep.id} sweep={sweep} maySend={maySend} onHash={() => setHashOf(sweep)} />
        ))}
      </ul>
      {hashOf === null ? null : <HashDialog sweep={hashOf} onClose={() => setHashOf(null)} />}
    </Card>
  );
}

interface OpenRowProps {
  readonly sweep: SweepView;
  readonly maySend: boolean;
  readonly onHash: () => void;
}

function OpenRow({ sweep, maySend, onHash }: OpenRowProps) {
  const { t } = useLocale('sweeps');
  const { api, queries } = useDashboard();
  const scope = useScope();
  const giveUp = useMutation({
    mutationFn: () => api(`POST ${SWEEPS}/:sweep/give-up`, { params: { ...scope, sweep: sweep.id }, body: {} }),
    onSettled: () => queries.invalidateQueries({ queryKey: sweepsKey(scope) }),
  });
  const { state, purpose, amounts, name, hash, sent_by: who } = sweep;
  const hasHash = hash !== null;
  const step = state === 'asked' || state === 'seen' ? state : 'sent';
  return (
    <li className={rows.row}>
      <div>
        <SweepState state={state} />
        <b className={css.after}>{purpose === 'sweep' ? <Amounts amounts={amounts} /> : t('call_factory')}</b>
        <small>
          {name}
          {who === null ? null : ` · ${who}`} · <Ago iso={sweep.created_at} />
          {hasHash ? (
            <>
              {' · '}
              <Short text={hash} what={t('sweep_transaction')} href={sweep.explorer_url} />
            </>
          ) : null}
        </small>
        <small>{t(hasHash || step !== 'sent' ? `sweep_${step}_text` : 'sweep_no_hash_text')}</small>
        {giveUp.error === null ? null : <Notice kind="problem">{problemText(giveUp.error, t)}</Notice>}
      </div>
      {maySend && state !== 'seen' ? (
        <span className={rows.buttons}>
          <Button small onClick={onHash}>
            {t('give_hash')}
          </Button>
          {state === 'asked' ? (
            <Button small busy={giveUp.isPending} onClick={() => giveUp.mutate()}>
              {t('give_up_sweep')}
            </Button>
          ) : null}
        </span>
      ) : null}
    </li>
  );
}

interface HashDialogProps {
  readonly sweep: SweepView;
  readonly onClose: () => void;
}

/** Takes the hash of what a wallet sent after its tab was closed, or from another machine. */
function HashDialog({ sweep, onClose }: HashDialogProps) {
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
