import type { ReactNode } from 'react';
import type { PaymentRow } from '../../../../src/http/dashboard/contract/payments.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { useSignedIn } from '../../session.ts';
import { Card } from '../../ui/card.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Icon } from '../../ui/icons.tsx';
import css from './home-page.module.css';

/** The way to the first live payment; it goes away once there is one. */
export function FirstSteps({ latest }: { readonly latest: readonly PaymentRow[] }) {
  const { t } = useLocale();
  const { project: id, mode } = useScope();
  const project = useSignedIn().projects.find((one) => one.id === id);
  if (project === undefined || project.has_live_payments || mode === 'live') return null;
  const hasCompleted = latest.some(({ status }) => status === 'completed');
  return (
    <Card title={t('first_steps')}>
      <ol className={css.steps}>
        <Step isDone={latest.length > 0} title={t('step_create')}>
          {t('step_create_text')} <a href="/docs">{t('read_guide')}</a>
        </Step>
        <Step isDone={hasCompleted} title={t('step_complete')}>
          {t('step_complete_text')}
        </Step>
        <Step isDone={false} title={t('step_live')}>
          {t('step_live_text')}
        </Step>
      </ol>
    </Card>
  );
}

interface StepProps {
  readonly isDone: boolean;
  readonly title: string;
  readonly children: ReactNode;
}

function Step({ isDone, title, children }: StepProps) {
  const { t } = useLocale();
  return (
    <li className={classNames(isDone && css.done)}>
      <span className={css.mark}>{isDone ? <Icon name="check" size={13} /> : null}</span>
      <b>
        {title}
        {isDone ? <span className="unseen"> ({t('step_done')})</span> : null}
      </b>
      {isDone ? null : <p>{children}</p>}
    </li>
  );
}
