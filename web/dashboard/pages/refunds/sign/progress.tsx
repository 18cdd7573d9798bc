import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { SigningProgress } from '../../../../../src/http/dashboard/signing/contract.ts';
import { reads } from '../../../api.ts';
import { useLocale } from '../../../locale.tsx';
import { useScope } from '../../../scope.ts';
import { Button } from '../../../ui/button.tsx';
import { Short } from '../../../ui/value.tsx';
import { projectKey } from '../../payments/queries.ts';
import css from './sign.module.css';

/** The stream reports blocks; only polling reports that a transaction was seen or dropped. */
const ASK_MS = 3_000;

interface ProgressProps {
  readonly refunds: readonly string[];
  /** Whether a transaction was sent from this dialog. */
  readonly isSent: boolean;
  readonly onAgain: () => void;
}

/** The progress of paying refunds, kept up to date; nothing before a transaction is known. */
export function Progress({ refunds, isSent, onAgain }: ProgressProps) {
  const { t } = useLocale('signing');
  const { data } = useProgress(refunds, isSent);
  const known = data?.data.filter(({ state, status }) => state !== null || status === 'completed') ?? [];
  if (known.length === 0) {
    return isSent ? (
      <section className={css.progress} aria-label={t('progress')} role="status">
        <b>{t('progress_sent')}</b>
      </section>
    ) : null;
  }
  // Refunds that one transaction pays have the same progress.
  const shown = [...Map.groupBy(known, (one) => `${one.transaction_hash} ${stepOf(one)}`).values()];
  const isGone = isSent && known.every(({ state, status }) => status === 'pending' && isOver(state));
  return (
    <section className={css.progress} aria-label={t('progress')} role="status">
      {shown.map(([one]) =>
        one === undefined ? null : (
          <div key={one.refund} className={css.sum}>
            <b>{textOf(one, t)}</b>
            {one.transaction_hash === null ? null : (
              <Short text={one.transaction_hash} what={t('transaction')} href={one.explorer_url} />
            )}
          </div>
        ),
      )}
      {isGone ? (
        <div className={css.buttons}>
          <Button onClick={onAgain}>{t('signing_again')}</Button>
        </div>
      ) : null}
    </section>
  );
}

function useProgress(refunds: readonly string[], isSent: boolean) {
  const scope = useScope();
  const query = useQuery({
    ...reads([...projectKey(scope), 'payment'], 'GET /dashboard/api/projects/:project/:mode/signing/progress', {
      params: scope,
      query: { refunds: refunds.join(',') },
    }),
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.data.every(({ status }) => status !== 'pending') ? false : ASK_MS),
  });
  const { refetch } = query;
  useEffect(() => {
    if (isSent) void refetch();
  }, [isSent, refetch]);
  return query;
}

function isOver(state: SigningProgress['state']): boolean {
  return state === 'dropped' || state === 'refused';
}

function stepOf({ status, state, confirmations }: SigningProgress): string {
  return status === 'pending' ? `${state} ${confirmations}` : status;
}

function textOf(one: SigningProgress, t: ReturnType<typeof useLocale<'signing'>>['t']): string {
  const { status, state, confirmations, needed, reason } = one;
  if (status === 'completed') return t('progress_completed');
  if (status === 'failed') return t('progress_failed');
  switch (state) {
    case 'block':
      return t('progress_block', { confirmations, needed });
    case 'refused':
      return t('progress_refused', { reason: reason ?? '–' });
    case 'dropped':
      return t('progress_dropped');
    case 'waiting':
      return t('progress_waiting');
    case 'sent':
    case null:
      return t('progress_sent');
  }
}
