import { useInfiniteQuery } from '@tanstack/react-query';
import type { SweepView } from '../../../../src/http/dashboard/sweeps/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { Card } from '../../ui/card.tsx';
import { Short } from '../../ui/copy.tsx';
import { Moment } from '../../ui/moment.tsx';
import rows from '../account/account.module.css';
import { Failed } from '../keys/failed.tsx';
import { ListFoot } from '../payments/list-foot.tsx';
import { Amounts } from './amounts.tsx';
import { historyQuery } from './queries.ts';
import { SweepState } from './sweep-state.tsx';
import css from './sweeps.module.css';

/** What was swept, by whom, and what it cost, the newest first. */
export function History() {
  const { t } = useLocale('sweeps');
  const { api } = useDashboard();
  const list = useInfiniteQuery(historyQuery(api, useScope()));
  if (list.data === undefined) {
    return (
      <Card title={t('sweeps_history')}>
        <Failed query={list} rows={3} />
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
  const { t, fiat } = useLocale('sweeps');
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
            {/* No later sweep shows what became of a factory. */}
            {t(
              purpose === 'deploy_factory' && problem === 'lost' ? 'factory_problem_lost' : `sweep_problem_${problem}`,
            )}
          </small>
        )}
        {state === 'mined' && failed > 0 ? <small>{t('sweep_part_failed', { count: failed })}</small> : null}
        {fee === null ? null : (
          <small>
            {feeUsd === null
              ? t('sweep_paid_gas', { fee, coin: coin ?? '' })
              : t('sweep_paid_gas_worth', { fee, coin: coin ?? '', worth: fiat(feeUsd, 'USD') })}
            {state === 'mined' && !sweep.final ? ` · ${t('sweep_not_final')}` : null}
          </small>
        )}
      </div>
      <small>
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
