import { useQuery } from '@tanstack/react-query';
import { useState, useEffect } from 'react';
import type { SignedRefund, Signing, SigningProgress } from '../../../../../src/http/dashboard/signing/contract.ts';
import { reads } from '../../../api.ts';
import { useDashboard } from '../../../dashboard.ts';
import { useLocale } from '../../../locale.tsx';
import { problemText } from '../../../problem.ts';
import { Button } from '../../../ui/button.tsx';
import { Short } from '../../../ui/value.tsx';
import { networkName } from '../../../formats.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { Notice, Problem } from '../../../ui/notice.tsx';
import { SkeletonRows } from '../../../ui/placeholder.tsx';
import { EvmWays } from './evm-ways.tsx';
import { PsbtWays } from './psbt-ways.tsx';
import css from './sign.module.css';
import { UriWay } from './evm-ways.tsx';
import { projectKey } from '../../payments/queries.ts';
import { useScope } from '../../../scope.ts';

/** How often to ask whether there is something to sign. */
const ASK_MS = 3_000;

interface SignDialogProps {
  /** One refund of any network, or several of one UTXO network and wallet: `re_…`. */
  readonly refunds: readonly { readonly id: string }[];
  /** Called once a transaction was sent. */
  readonly onSent?: () => void;
  readonly onClose: () => void;
}

/** Shows the transaction to sign for refunds in one's own wallet, takes the signed one, and follows the payment. */
export function SignDialog({ refunds, onSent, onClose }: SignDialogProps) {
  const { t } = useLocale('signing');
  const [ids, setIds] = useState<readonly string[]>(() => refunds.map(({ id }) => id));
  const [isSent, setSent] = useState(false);
  const { data, error, refetch, isFetching } = useSigning(ids);
  const { toast } = useDashboard();
  const isCurrent = async (): Promise<boolean> => {
    const now = await refetch();
    // An equal answer is the same object.
    if (now.isSuccess && now.data === data) return true;
    toast(now.isSuccess ? t('signing_changed') : problemText(now.error, t), 'problem');
    return false;
  };
  const isPaid = useProgress(ids, isSent).data?.data.every(({ status }) => status !== 'pending') === true;
  const title = ids.length === 1 ? t('signing_one') : t('sign_many', { count: ids.length });
  const again = (): void => {
    setSent(false);
    void refetch();
  };
  const sent = (): void => {
    setSent(true);
    onSent?.();
  };
  return (
    <Dialog title={title} description={t('signing_text')} wide onClose={onClose}>
      {data === undefined ? (
        error === null ? (
          <SkeletonRows count={4} />
        ) : (
          <>
            <Problem error={error} />
            <div className={css.buttons}>
              <Button busy={isFetching} onClick={() => void refetch()}>
                {t('try_again')}
              </Button>
            </div>
          </>
        )
      ) : (
        <>
          <RefundList signing={data} />
          {isSent ? null : (
            <ToSign signing={data} ids={ids} isCurrent={isCurrent} onOnly={setIds} onAgain={again} onSent={sent} />
          )}
        </>
      )}
      <Progress refunds={ids} isSent={isSent} onAgain={again} />
      {isSent || isPaid ? <Button onClick={onClose}>{t('close')}</Button> : null}
    </Dialog>
  );
}

function useSigning(ids: readonly string[]) {
  const request = { params: useScope(), body: { refunds: [...ids] } };
  return useQuery({
    ...reads(['sign'], 'POST /dashboard/api/projects/:project/:mode/signing', request),
    // The answer comes from a node, and must be current.
    staleTime: 0,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
    // A problem may end without action: waiting transactions are compared with a new refund within a moment.
    refetchInterval: ({ state }) => (state.data === undefined || isToSign(state.data) ? false : ASK_MS),
  });
}

function isToSign({ psbt, call, payment_uri }: Signing): boolean {
  return psbt !== null || call !== null || payment_uri !== null;
}

function RefundList({ signing: { refunds } }: { readonly signing: Signing }) {
  const { t, fiat, coin } = useLocale('signing');
  return (
    <ul className={css.refunds}>
      {refunds.map(({ id, asset, network, crypto_amount, amount, currency, address, problem }) => (
        <li key={id}>
          <div className={css.sum}>
            <p>
              <strong>{coin(crypto_amount, asset)}</strong>{' '}
              <span className={css.soft}>
                {fiat(amount, currency)} · {networkName(network)}
              </span>
            </p>
            <Short text={id} what={t('id')} />
          </div>
          {address === null ? null : (
            <div className={css.soft}>
              {t('signing_to')} <code className={css.whole}>{address}</code>
            </div>
          )}
          {problem === null ? null : <Notice kind="problem">{problem}</Notice>}
        </li>
      ))}
    </ul>
  );
}

interface ToSignProps {
  readonly signing: Signing;
  readonly ids: readonly string[];
  /** Whether the shown transaction is still current; otherwise the current one is shown. */
  readonly isCurrent: () => Promise<boolean>;
  /** Leaves out refunds that cannot be paid now. */
  readonly onOnly: (ids: readonly string[]) => void;
  readonly onAgain: () => void;
  readonly onSent: () => void;
}

function ToSign({ signing, ids, isCurrent, onOnly, onAgain, onSent }: ToSignProps) {
  const { t, dateTime } = useLocale('signing');
  const { refunds, problem, warnings, shown_to, psbt, call, payment_uri } = signing;
  const isPayable = ({ problem: its }: SignedRefund): boolean => its === null;
  const others = refunds.filter(isPayable).map(({ id }) => id);
  return (
    <>
      {problem === null ? null : <Notice kind="problem">{problem}</Notice>}
      {shown_to.map(({ name, at }) => (
        <Notice key={`${name} ${at}`} kind="warning">
          {t('signing_shown_to', { name, time: dateTime(at) })}
        </Notice>
      ))}
      {warnings.map((warning) => (
        <Notice key={warning} kind="warning">
          {warning}
        </Notice>
      ))}
      {others.length === 0 || others.length === refunds.length ? null : (
        <div className={css.buttons}>
          <Button kind="primary" onClick={() => onOnly(others)}>
            {t('signing_leave_out')}
          </Button>
        </div>
      )}
      {psbt !== null ? (
        <PsbtWays signing={signing} psbt={psbt} ids={ids} onAgain={onAgain} onSent={onSent} />
      ) : call !== null ? (
        <EvmWays signing={signing} call={call} isCurrent={isCurrent} onSent={onSent} />
      ) : payment_uri === null ? null : (
        <UriWay uri={payment_uri} />
      )}
    </>
  );
}

/** The stream reports blocks; only polling reports that a transaction was seen or dropped. */
const PROGRESS_MS = 3_000;

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
  const followed = data?.data.filter(({ state, status }) => state !== null || status === 'completed') ?? [];
  if (followed.length === 0) {
    return isSent ? (
      <section className={css.progress} aria-label={t('progress')} role="status">
        <b>{t('progress_sent')}</b>
      </section>
    ) : null;
  }
  // Refunds that one transaction pays have the same progress.
  const shown = [...Map.groupBy(followed, (one) => `${one.transaction_hash} ${stepOf(one)}`).values()];
  const isGone = isSent && followed.every(({ state, status }) => status === 'pending' && isOver(state));
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
    refetchInterval: ({ state }) =>
      state.data?.data.every(({ status }) => status !== 'pending') ? false : PROGRESS_MS,
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
