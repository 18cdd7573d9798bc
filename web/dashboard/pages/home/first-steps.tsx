import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Action } from '../../../../src/domain/role.ts';
import type { HomeView } from '../../../../src/http/dashboard/home/contract.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { useActions } from '../../session.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Icon } from '../../ui/icons.tsx';
import { NewPayment } from '../payments/new-payment.tsx';
import css from './home-page.module.css';

const SCOPE = '/projects/$project/$mode';

/** The steps to the first live payment, each with the page where it is done, the mode, and the action that it takes. */
const STEPS = [
  { name: 'test_payment', to: SCOPE, mode: 'test', action: 'change_test_payments' },
  { name: 'webhook', to: `${SCOPE}/webhooks`, mode: null, action: 'manage_webhooks' },
  { name: 'webhook_answered', to: `${SCOPE}/webhooks`, mode: null, action: 'manage_webhooks' },
  { name: 'wallet', to: `${SCOPE}/wallets`, mode: 'live', action: 'manage_wallets' },
  { name: 'support', to: `${SCOPE}/settings`, mode: null, action: 'manage_settings' },
  { name: 'live_key', to: `${SCOPE}/keys`, mode: 'live', action: 'manage_live_keys' },
  { name: 'live_payment', to: `${SCOPE}/payments`, mode: 'live', action: 'change_live_payments' },
] as const satisfies readonly { readonly action: Action; readonly [field: string]: unknown }[];

/** The steps to the first live payment. */
export function FirstSteps({ steps }: { readonly steps: HomeView['first_steps'] }) {
  const { t } = useLocale();
  const actions = useActions();
  const next = STEPS.find(({ name }) => !steps[name])?.name;
  return (
    <Card title={t('first_steps')} className={css.firstSteps}>
      <ol className={css.steps}>
        {STEPS.map((step) => (
          <Step key={step.name} name={step.name} isDone={steps[step.name]} isNext={step.name === next}>
            {actions.includes(step.action) ? <StepButton step={step} isNext={step.name === next} /> : null}
          </Step>
        ))}
      </ol>
    </Card>
  );
}

interface StepProps {
  readonly name: (typeof STEPS)[number]['name'];
  readonly isDone: boolean;
  readonly isNext: boolean;
  /** The button that does it. */
  readonly children: ReactNode;
}

function Step({ name, isDone, isNext, children }: StepProps) {
  const { t } = useLocale();
  return (
    <li className={classNames(isDone && css.done)}>
      <span className={css.mark}>{isDone ? <Icon name="check" size={13} /> : null}</span>
      <span>
        {t(`step_${name}`)}
        {isDone ? <span className="unseen"> ({t('step_done')})</span> : null}
      </span>
      {isDone ? null : children}
      {/* Only the next step shows its details. */}
      {isNext ? (
        <p>
          {t(`step_${name}_text`)} {name === 'test_payment' ? <a href="/docs">{t('read_guide')}</a> : null}
        </p>
      ) : null}
    </li>
  );
}

interface StepButtonProps {
  readonly step: (typeof STEPS)[number];
  readonly isNext: boolean;
}

function StepButton({ step: { name, to, mode }, isNext }: StepButtonProps) {
  const { t } = useLocale();
  const scope = useScope();
  if (name === 'test_payment' && scope.mode === mode) return <NewPayment small label={t('do_test_payment')} />;
  return (
    <Link
      className={buttonClass({ small: true, kind: isNext ? 'primary' : 'plain' })}
      to={to}
      params={{ ...scope, ...(mode !== null && { mode }) }}
    >
      {t(`do_${name}`)}
    </Link>
  );
}
