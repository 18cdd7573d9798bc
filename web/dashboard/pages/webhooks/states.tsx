import type { DeliveryRowView, DeliveryView } from '../../../../src/http/dashboard/deliveries/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Badge } from '../../ui/value.tsx';

const DELIVERY_TONES = { waiting: 'waiting', delivered: 'good', failed: 'bad', stopped: 'over' } as const;

export function DeliveryState({ state }: Pick<DeliveryRowView, 'state'>) {
  const { t } = useLocale();
  return <Badge tone={DELIVERY_TONES[state]}>{t(`delivery_${state}`)}</Badge>;
}

const ENDPOINT_TONES = { on: 'good', paused: 'waiting', disabled: 'bad', deleted: 'over' } as const;

export function EndpointState({ state }: { readonly state: DeliveryView['endpoint_state'] }) {
  const { t } = useLocale('webhooks');
  return <Badge tone={ENDPOINT_TONES[state]}>{t(`endpoint_state_${state}`)}</Badge>;
}

interface AnswerProps {
  /** Null without an answer. */
  readonly status: number | null;
  readonly stage: string | null;
}

const STAGES = ['guard', 'resolve', 'connect', 'tls', 'timeout', 'response'] as const;

/** An endpoint's answer: a status code, or the stage at which the attempt failed. */
export function Answer({ status: code, stage }: AnswerProps) {
  const { t } = useLocale('webhooks');
  if (code !== null) return <>{code}</>;
  const known = STAGES.find((one) => one === stage);
  return <>{known === undefined ? t('response_none') : t(`stage_${known}`)}</>;
}
