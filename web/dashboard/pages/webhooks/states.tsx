import type { DeliveryRowView, DeliveryView } from '../../../../src/http/dashboard/deliveries/contract.ts';
import { useLocale } from '../../locale.tsx';
import { classNames } from '../../ui/class-names.ts';
import statusCss from '../../ui/value.module.css';

const DELIVERY_CLASSES = { waiting: 'waiting', delivered: 'good', failed: 'bad', stopped: 'over' } as const;

export function DeliveryState({ state }: Pick<DeliveryRowView, 'state'>) {
  const { t } = useLocale();
  return (
    <span className={classNames(statusCss.status, statusCss[DELIVERY_CLASSES[state]])}>{t(`delivery_${state}`)}</span>
  );
}

const ENDPOINT_CLASSES = { on: 'good', paused: 'waiting', disabled: 'bad', deleted: 'over' } as const;

export function EndpointState({ state }: { readonly state: DeliveryView['endpoint_state'] }) {
  const { t } = useLocale('webhooks');
  return (
    <span className={classNames(statusCss.status, statusCss[ENDPOINT_CLASSES[state]])}>
      {t(`endpoint_state_${state}`)}
    </span>
  );
}

interface AnswerProps {
  /** Null without an answer. */
  readonly status: number | null;
  readonly stage: string | null;
}

const STAGES = ['guard', 'resolve', 'connect', 'tls', 'timeout', 'response'] as const;

/** An endpoint's answer: a status code, or where the attempt failed. */
export function Answer({ status: code, stage }: AnswerProps) {
  const { t } = useLocale('webhooks');
  if (code !== null) return <>{code}</>;
  const known = STAGES.find((one) => one === stage);
  return <>{known === undefined ? t('response_none') : t(`stage_${known}`)}</>;
}
