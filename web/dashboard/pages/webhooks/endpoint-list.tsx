import type { EndpointView } from '../../../../src/http/dashboard/webhooks/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { Moment, Badge, Facts } from '../../ui/value.tsx';
import css from './webhooks.module.css';
import type { DeliveryRowView, DeliveryView } from '../../../../src/http/dashboard/deliveries/contract.ts';

/** An action on one endpoint. */
export type EndpointAction = 'test' | 'change' | 'rotate' | 'pause' | 'enable' | 'delete';

interface EndpointListProps {
  readonly endpoints: readonly EndpointView[];
  readonly mayManage: boolean;
  readonly onAction: (action: EndpointAction, endpoint: EndpointView) => void;
}

/** The endpoints, each with the results of its recent deliveries. */
export function EndpointList({ endpoints, mayManage, onAction }: EndpointListProps) {
  const { t, dateTime } = useLocale('webhooks');
  return (
    <ul className={css.endpoints} aria-label={t('endpoints')}>
      {endpoints.map((endpoint) => (
        <li key={endpoint.id} className={css.endpoint}>
          <div className={css.name}>
            <h3 className={css.url}>{endpoint.url}</h3>
            <EndpointState state={endpoint.state} failingSince={endpoint.health.failing_since} />
          </div>
          {mayManage ? <Actions endpoint={endpoint} onAction={onAction} /> : null}
          <p className={css.soft} title={endpoint.events.join(', ')}>
            {t('event_count', { count: endpoint.events.length })}
            {endpoint.format === null ? null : ` · ${t(`endpoint_format_${endpoint.format}`)}`}
            {endpoint.disabled_reason === null ? null : ` · ${t('endpoint_gone')}`}
          </p>
          {endpoint.previous_secret_until === null ? null : (
            <p className={css.soft}>{t('previous_secret', { when: dateTime(endpoint.previous_secret_until) })}</p>
          )}
          <Health endpoint={endpoint} />
        </li>
      ))}
    </ul>
  );
}

interface ActionsProps {
  readonly endpoint: EndpointView;
  readonly onAction: EndpointListProps['onAction'];
}

function Actions({ endpoint, onAction }: ActionsProps) {
  const { t } = useLocale('webhooks');
  const { url, state } = endpoint;
  const item = (action: EndpointAction, text: string, isApart = false) => ({
    key: action,
    text,
    isApart,
    onChoose: () => onAction(action, endpoint),
  });
  return (
    <div className={css.actions}>
      <Button small onClick={() => onAction('test', endpoint)}>
        {t('send_test')}
      </Button>
      <MenuButton
        label={t('endpoint_actions', { url })}
        className={css.more}
        items={[
          item('change', t('change_endpoint')),
          item('rotate', t('rotate_secret')),
          state === 'on' ? item('pause', t('pause_endpoint')) : item('enable', t('enable_endpoint')),
          item('delete', t('delete_endpoint'), true),
        ]}
      >
        <Icon name="dots" />
      </MenuButton>
    </div>
  );
}

/** More than this is not counted. */
const MAX_COUNTED = 10_000;

function Health({ endpoint: { health } }: { readonly endpoint: EndpointView }) {
  const { t, number, percent } = useLocale('webhooks');
  const { attempts, acknowledged, waiting, median_ms: median, p95_ms: p95, next_attempt_at: next } = health;
  return (
    <Facts
      className={css.health}
      areApart
      facts={[
        [
          t('health_rate'),
          attempts === 0
            ? t('health_idle')
            : t('health_rate_of', { percent: percent((100 * acknowledged) / attempts), count: number(attempts) }),
        ],
        [
          t('health_latency'),
          median === null || p95 === null ? null : t('health_latency_of', { median: number(median), p95: number(p95) }),
        ],
        [t('health_waiting'), waiting > MAX_COUNTED ? t('health_waiting_many') : number(waiting)],
        [t('health_next'), next === null ? null : <Moment iso={next} />],
      ]}
    />
  );
}

const DELIVERY_TONES = {
  waiting: 'waiting',
  delivered: 'good',
  failed: 'bad',
  stopped: 'over',
  overtaken: 'over',
} as const;

/** The state of a delivery. One that failed and will be tried again says when. */
export function DeliveryState(delivery: Pick<DeliveryRowView, 'state' | 'attempted_at' | 'next_attempt_at'>) {
  const { t, shortTime } = useLocale('webhooks');
  const { state, attempted_at: attempted, next_attempt_at: next } = delivery;
  if (state === 'waiting' && attempted !== null && next !== null) {
    return (
      <span className={css.state}>
        <Badge tone="warning">{t('delivery_failed')}</Badge>
        <small>{t('delivery_next_try', { when: shortTime(next, Date.now()) })}</small>
      </span>
    );
  }
  return <Badge tone={DELIVERY_TONES[state]}>{t(`delivery_${state}`)}</Badge>;
}

const ENDPOINT_TONES = { on: 'good', paused: 'waiting', disabled: 'bad', deleted: 'over' } as const;

interface EndpointStateProps {
  readonly state: DeliveryView['endpoint_state'];
  /** The first failed attempt since the last that was acknowledged. */
  readonly failingSince?: string | null;
}

export function EndpointState({ state, failingSince = null }: EndpointStateProps) {
  const { t, shortTime } = useLocale('webhooks');
  if (state === 'on' && failingSince !== null) {
    return <Badge tone="warning">{t('endpoint_failing', { when: shortTime(failingSince, Date.now()) })}</Badge>;
  }
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
