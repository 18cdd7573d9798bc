import type { ListedRefundView } from '../../../../src/http/dashboard/refunds/contract.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { classNames } from '../../ui/class-names.ts';
import statusCss from '../../ui/status.module.css';
import css from './refunds.module.css';

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
