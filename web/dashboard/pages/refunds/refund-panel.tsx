import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { ListedRefundView } from '../../../../src/http/dashboard/refunds/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton, Short, Moment } from '../../ui/value.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Fact, Facts, LogPanel } from '../log/log-panel.tsx';
import logCss from '../log/log.module.css';
import { networkName } from '../../formats.ts';
import { failureText } from '../payments/refund/refund-failure.ts';
import { refundQuery } from './queries.ts';
import { classNames } from '../../ui/class-names.ts';
import statusCss from '../../ui/value.module.css';
import css from './refunds.module.css';

const CancelRefundDialog = lazy(async () => ({
  default: (await import('../payments/refund/refunds.tsx')).CancelRefundDialog,
}));

interface RefundPanelProps {
  readonly refund: string;
  readonly onSign: (refund: ListedRefundView) => void;
  readonly onClose: () => void;
}

/** One refund: what it gives back, where it stands, and what can be done about it. */
export function RefundPanel({ refund: id, onSign, onClose }: RefundPanelProps) {
  const { t } = useLocale('refunds');
  const { api } = useDashboard();
  const found = useQuery(refundQuery(api, useScope(), id));
  return (
    <LogPanel title={t('refund_one')} found={found} onClose={onClose}>
      {(refund) => <Refund refund={refund} onSign={() => onSign(refund)} />}
    </LogPanel>
  );
}

function Refund({ refund, onSign }: { readonly refund: ListedRefundView; readonly onSign: () => void }) {
  const [isCancelling, cancel] = useState(false);
  return (
    <>
      <p>
        <strong>
          {refund.crypto_amount} {refund.asset}
        </strong>
        <br />
        <RefundStage refund={refund} />
      </p>
      <What refund={refund} />
      <RefundFacts refund={refund} />
      <Actions refund={refund} onSign={onSign} onCancel={() => cancel(true)} />
      {isCancelling ? (
        <Suspense>
          <CancelRefundDialog payment={refund.payment.id} refund={refund.id} onClose={() => cancel(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

interface ActionsProps {
  readonly refund: ListedRefundView;
  readonly onSign: () => void;
  readonly onCancel: () => void;
}

function Actions({ refund: { can, claim_url: link }, onSign, onCancel }: ActionsProps) {
  const { t } = useLocale('refunds', 'detail');
  if (!can.sign && !can.cancel && link === null) return null;
  return (
    <div className={logCss.buttons}>
      {can.sign ? (
        <Button small kind="primary" onClick={onSign}>
          {t('refund_sign')}
        </Button>
      ) : null}
      {link === null ? null : <CopyButton text={link}>{t('copy_link')}</CopyButton>}
      {can.cancel ? (
        <Button small onClick={onCancel}>
          {t('cancel_refund')}
        </Button>
      ) : null}
    </div>
  );
}

/** The meaning of a stage, and what to do. */
function What({ refund }: { readonly refund: ListedRefundView }) {
  const { t, dateTime } = useLocale('refunds', 'detail');
  const { stage, payout, due_at: due, failure_reason: failure, claim_url: link } = refund;
  const { mode } = useScope();
  if (stage === 'failed') {
    const isPaid = payout !== null && payout.state !== 'dropped';
    return (
      <>
        {failure === null ? null : <Notice kind="problem">{failureText(failure, t)}</Notice>}
        {isPaid ? <Notice kind="warning">{t('refund_paid_anyway')}</Notice> : null}
      </>
    );
  }
  if (mode === 'test' || due === null) return null;
  const until = t('refund_until', { time: dateTime(due) });
  switch (stage) {
    case 'waiting_for_address':
      return <Notice>{link === null ? until : `${t('refund_send_link')} ${until}`}</Notice>;
    case 'to_sign':
      return <Notice>{until}</Notice>;
    case 'reorged':
      return <Notice kind="warning">{t(payout?.state === 'dropped' ? 'refund_gone' : 'refund_reorged')}</Notice>;
    case 'seen':
    case 'completed':
      return null;
  }
}

function RefundFacts({ refund }: { readonly refund: ListedRefundView }) {
  const { t, fiat } = useLocale('refunds', 'detail', 'list');
  const scope = useScope();
  const { payment, payout } = refund;
  const hash = refund.transaction_hash ?? payout?.transaction_hash ?? null;
  return (
    <Facts>
      <Fact name={t('refund_worth')}>{fiat(refund.amount, refund.currency)}</Fact>
      <Fact name={t('payment')}>
        <Link to="/projects/$project/$mode/payments/$payment" params={{ ...scope, payment: payment.id }}>
          {payment.name ?? payment.id}
        </Link>
      </Fact>
      <Fact name={t('network')}>{networkName(refund.network)}</Fact>
      {refund.address === null ? null : (
        <Fact name={t('address')}>
          <Short text={refund.address} what={t('address')} />
        </Fact>
      )}
      {hash === null ? null : (
        <Fact name={t('refund_transaction')}>
          <Short text={hash} what={t('hash')} href={refund.explorer_url ?? payout?.explorer_url ?? null} />
        </Fact>
      )}
      {refund.reason === null ? null : <Fact name={t('refund_reason')}>{refund.reason}</Fact>}
      <Fact name={t('created')}>
        <Moment iso={refund.created_at} />
      </Fact>
      {refund.completed_at === null ? null : (
        <Fact name={t('completed')}>
          <Moment iso={refund.completed_at} />
        </Fact>
      )}
      <Fact name={t('id')}>
        <Short text={refund.id} what={t('id')} />
      </Fact>
    </Facts>
  );
}

type Stage = ListedRefundView['stage'];

const CLASSES = {
  waiting_for_address: 'open',
  to_sign: 'open',
  seen: 'waiting',
  reorged: 'bad',
  completed: 'good',
  failed: 'bad',
} as const satisfies Readonly<Record<Stage, string>>;

/** The name of a stage: nobody signs in test mode, where refunds complete by themselves. */
export function useStageText(): (stage: Stage) => string {
  const { t } = useLocale('refunds');
  const { mode } = useScope();
  return (stage) => t(mode === 'test' && stage === 'to_sign' ? 'refund_stage_test' : `refund_stage_${stage}`);
}

/** Where a refund stands, as text that the colour supports. */
export function RefundStage({ refund: { stage, payout } }: { readonly refund: ListedRefundView }) {
  const { t } = useLocale('refunds');
  const textOf = useStageText();
  const isCounted = stage === 'seen' && payout !== null;
  return (
    <span>
      <span className={classNames(statusCss.status, statusCss[CLASSES[stage]], css.stage)}>{textOf(stage)}</span>
      {isCounted ? <small>{t('confirmations', { have: payout.confirmations, need: payout.needed })}</small> : null}
    </span>
  );
}
