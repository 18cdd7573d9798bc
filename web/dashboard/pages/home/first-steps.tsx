import type { ReactNode } from 'react';
import type { HomeView } from '../../../../src/http/dashboard/home/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Card } from '../../ui/card.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Icon } from '../../ui/icons.tsx';
import css from './home-page.module.css';

const STEPS = [
  ['test_payment', 'step_create', 'step_create_text'],
  ['webhook', 'step_webhook', 'step_webhook_text'],
  ['webhook_answered', 'step_answered', 'step_answered_text'],
  ['wallet', 'step_wallet', 'step_wallet_text'],
  ['live_key', 'step_key', 'step_key_text'],
  ['live_payment', 'step_live', 'step_live_text'],
] as const;

/** The steps to the first live payment. Hidden after it. */
export function FirstSteps({ steps }: { readonly steps: HomeView['first_steps'] }) {
  const { t } = useLocale();
  if (steps.live_payment) return null;
  const next = STEPS.find(([name]) => !steps[name])?.[0];
  return (
    <Card title={t('first_steps')}>
      <ol className={css.steps}>
        {STEPS.map(([name, title, text]) => (
          <Step key={name} isDone={steps[name]} title={t(title)}>
            {/* Only the next step shows its details. */}
            {name === next ? t(text) : null}
            {name === next && name === 'test_payment' ? (
              <>
                {' '}
                <a href="/docs">{t('read_guide')}</a>
              </>
            ) : null}
          </Step>
        ))}
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
      <span>
        {title}
        {isDone ? <span className="unseen"> ({t('step_done')})</span> : null}
      </span>
      <p>{children}</p>
    </li>
  );
}
