import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import type { ListedRefundView } from '../../../../src/http/dashboard/refunds/contract.ts';
import { reads } from '../../api.ts';
import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Coin, Badge, CopyButton, Facts, Moment, Short } from '../../ui/value.tsx';
import { Notice } from '../../ui/notice.tsx';
import { LogPanel, PaymentLink } from '../log/log-panel.tsx';
import logCss from '../log/log.module.css';
import { networkName } from '../../formats.ts';
import { failureText } from '../payments/refund/refund-failure.ts';
import { refundsKey } from '../payments/queries.ts';
import css from './refunds.module.css';
import { useScope, type Scope } from '../../scope.ts';

const CancelRefundDialog = lazy(async () => ({
  default: (await import('../payments/refund/refunds.tsx')).CancelRefundDialog,
}));

interface RefundPanelProps {
  readonly refund: string;
  readonly onSign: (refund: ListedRefundView) => void;
  readonly onClose: () => void;
}

function refundQuery(scope: Scope, refund: string) {
  const params = { ...scope, refund };
  return reads(refundsKey(scope), 'GET /dashboard/api/projects/:project/:mode/refunds/:refund', { params });
}

/** One refund: its amount, stage, and possible actions. */
export function RefundPanel({ refund: id, onSign, onClose }: RefundPanelProps) {
  const { t } = useLocale('refunds');
  const found = useQuery(refundQuery(useScope(), id));
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
          <Coin amount={refund.crypto_amount} asset={refund.asset} />
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
      {link === null ? null : <CopyButton text={link}>{t('copy_refund_link')}</CopyButton>}
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
  if (mode === 'test' && stage === 'waiting_for_address' && link !== null)
    return <Notice>{t('refund_send_link')}</Notice>;
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
  const { payment, payout, address, completed_at: completedAt } = refund;
  const hash = refund.transaction_hash ?? payout?.transaction_hash ?? null;
  const explorer = refund.explorer_url ?? payout?.explorer_url ?? null;
  return (
    <Facts
      facts={[
        [t('refund_worth'), fiat(refund.amount, refund.currency)],
        [t('payment'), <PaymentLink payment={payment.id} name={payment.name} />],
        [t('network'), networkName(refund.network)],
        [t('address'), address === null ? null : <Short text={address} what={t('address')} />],
        [t('refund_transaction'), hash === null ? null : <Short text={hash} what={t('hash')} href={explorer} />],
        [t('refund_reason'), refund.reason],
        [t('created'), <Moment iso={refund.created_at} />],
        [t('completed'), completedAt === null ? null : <Moment iso={completedAt} />],
        [t('id'), <Short text={refund.id} what={t('id')} />],
      ]}
    />
  );
}

type Stage = ListedRefundView['stage'];

const TONES = {
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

/** The stage of a refund as text, supported by a colour. */
export function RefundStage({ refund: { stage, payout } }: { readonly refund: ListedRefundView }) {
  const { t } = useLocale('refunds');
  const textOf = useStageText();
  const isCounted = stage === 'seen' && payout !== null;
  return (
    <span>
      <Badge tone={TONES[stage]} className={css.stage}>
        {textOf(stage)}
      </Badge>
      {isCounted ? ' ' : null}
      {isCounted ? <small>{t('confirmations', { have: payout.confirmations, need: payout.needed })}</small> : null}
    </span>
  );
}
