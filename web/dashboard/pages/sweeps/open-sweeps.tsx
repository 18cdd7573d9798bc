import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SweepView } from '../../../../src/http/dashboard/sweeps/contract.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Short, Ago, Moment } from '../../ui/value.tsx';
import { Problem } from '../../ui/notice.tsx';
import rows from '../../ui/row.module.css';
import { Amounts, SWEEPS, sweepsKey, SweepState, historyQuery } from './sweep-parts.tsx';
import css from './sweeps.module.css';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { ListFoot } from '../payments/list-foot.tsx';
import { useChange } from '../../change.ts';
import { useScope } from '../../scope.ts';

interface OpenSweepsProps {
  readonly sweeps: readonly SweepView[];
  readonly maySend: boolean;
}

/** Sweeps under way, from all people and tabs. */
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
  const scope = useScope();
  const giveUp = useChange({
    send: (api) => api(`POST ${SWEEPS}/:sweep/give-up`, { params: { ...scope, sweep: sweep.id }, body: {} }),
    stale: sweepsKey(scope),
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
        <Problem error={giveUp.error} />
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

/** Takes the hash of a transaction that a wallet sent after its tab was closed, or from another machine. */
function HashDialog({ sweep, onClose }: HashDialogProps) {
  const [hash, setHash] = useState('');
  const { t } = useLocale('sweeps');
  const scope = useScope();
  const save = useChange({
    send: (api) =>
      api(`POST ${SWEEPS}/:sweep/sent`, { params: { ...scope, sweep: sweep.id }, body: { hash: hash.trim() } }),
    stale: sweepsKey(scope),
    onDone: onClose,
  });
  return (
    <FormDialog
      onClose={onClose}
      isDirty={hash !== ''}
      fields={['hash']}
      name={t('give_hash')}
      confirm={t('save')}
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

/** Past sweeps, with sender and cost, newest first. */
export function History() {
  const { t } = useLocale('sweeps');
  const list = useInfiniteQuery(historyQuery(useScope()));
  if (list.data === undefined) {
    return (
      <Card title={t('sweeps_history')}>
        <NotLoaded query={list} rows={3} />
      </Card>
    );
  }
  const sweeps = list.data.pages.flatMap(({ data }) => data);
  return (
    <Card title={t('sweeps_history')}>
      {sweeps.length === 0 ? (
        <p>{t('sweeps_history_none')}</p>
      ) : (
        <>
          <ul aria-label={t('sweeps_history')}>
            {sweeps.map((sweep) => (
              <HistoryRow key={sweep.id} sweep={sweep} />
            ))}
          </ul>
          {list.hasNextPage ? <ListFoot list={list} more={t('sweeps_more')} end="" /> : null}
        </>
      )}
    </Card>
  );
}

function HistoryRow({ sweep }: { readonly sweep: SweepView }) {
  const { t, fiat, coin: coins } = useLocale('sweeps');
  const { state, problem, purpose, source, amounts, hash, treasury, sender, fee, coin, fee_usd: feeUsd } = sweep;
  const failed = amounts.reduce((sum, one) => sum + one.failed, 0);
  const isUnlocated = source === 'chain' && hash === null;
  return (
    <li className={rows.row}>
      <div>
        <SweepState state={state} />
        <b className={css.after}>
          {purpose === 'sweep' ? (
            <Amounts amounts={amounts} {...(state === 'mined' && { unknown: t('sweep_worth_unknown') })} />
          ) : (
            t('call_factory')
          )}
        </b>
        <small>
          {isUnlocated ? t('sweep_unlocated') : <Moment iso={sweep.mined_at ?? sweep.created_at} />} · {sweep.name}
          {source === 'chain' ? ` · ${t('sweep_from_outside')}` : sweep.sent_by === null ? null : ` · ${sweep.sent_by}`}
        </small>
        {problem === null ? null : (
          <small>
            {/* No later sweep can replace the deployment of a factory. */}
            {t(
              purpose === 'deploy_factory' && problem === 'lost' ? 'factory_problem_lost' : `sweep_problem_${problem}`,
            )}
          </small>
        )}
        {state === 'mined' && failed > 0 ? <small>{t('sweep_part_failed', { count: failed })}</small> : null}
        {fee === null ? null : (
          <small>
            {feeUsd === null
              ? t('sweep_paid_gas', { fee: coins(fee, ''), coin: coin ?? '' })
              : t('sweep_paid_gas_worth', { fee: coins(fee, ''), coin: coin ?? '', worth: fiat(feeUsd, 'USD') })}
            {state === 'mined' && !sweep.final ? ` · ${t('sweep_not_final')}` : null}
          </small>
        )}
      </div>
      <small className={css.addresses}>
        {treasury === null ? null : (
          <>
            {t('sweep_treasury')} <Short text={treasury} what={t('sweep_treasury')} />
            <br />
          </>
        )}
        {sender === null ? null : (
          <>
            {t('sweep_sender')} <Short text={sender} what={t('sweep_sender')} />
            <br />
          </>
        )}
        {hash === null ? null : (
          <>
            {t('sweep_transaction')} <Short text={hash} what={t('sweep_transaction')} href={sweep.explorer_url} />
          </>
        )}
      </small>
    </li>
  );
}
