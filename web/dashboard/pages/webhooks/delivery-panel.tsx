import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { AttemptView, DeliveryView } from '../../../../src/http/dashboard/deliveries/contract.ts';
import { useChange } from '../../change.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Facts, Moment, Short } from '../../ui/value.tsx';
import { Notice, Problem } from '../../ui/notice.tsx';
import { CodeBlock, HeaderList, LogPanel, PaymentLink } from '../log/log-panel.tsx';
import logCss from '../log/log.module.css';
import { hintOf } from './hints.ts';
import { deliveryQuery, webhooksKey } from './queries.ts';
import css from './webhooks.module.css';
import { Answer, DeliveryState, EndpointState } from './endpoint-list.tsx';
import { useScope } from '../../scope.ts';

interface DeliveryPanelProps {
  readonly delivery: string;
  readonly mayManage: boolean;
  /** Shows code that checks the signature. */
  readonly onCheck: () => void;
  readonly onClose: () => void;
}

/** One delivery: the request, the answer, and the usual cause of a failure. */
export function DeliveryPanel({ delivery: id, mayManage, onCheck, onClose }: DeliveryPanelProps) {
  const { t } = useLocale('webhooks');
  const found = useQuery(deliveryQuery(useScope(), id));
  return (
    <LogPanel title={t('delivery')} found={found} onClose={onClose}>
      {(delivery) => (
        <>
          <DeliveryFacts delivery={delivery} />
          <Hint delivery={delivery} onCheck={onCheck} />
          {mayManage ? <Retry delivery={delivery} /> : null}
          <CodeBlock title={t('body')} text={delivery.body} what={t('copied_body')} />
          {delivery.attempts.map((attempt, index) => (
            <Attempt key={`${attempt.at} ${delivery.attempts.length - index}`} attempt={attempt} isOpen={index === 0} />
          ))}
          {delivery.has_more_attempts ? <p className={logCss.soft}>{t('attempts_more')}</p> : null}
        </>
      )}
    </LogPanel>
  );
}

function DeliveryFacts({ delivery }: { readonly delivery: DeliveryView }) {
  const { t } = useLocale('webhooks');
  const scope = useScope();
  const { next_attempt_at: next, endpoint_state: state } = delivery;
  return (
    <Facts
      facts={[
        [t('event'), delivery.type],
        [t('state'), <DeliveryState {...delivery} />],
        [
          t('endpoint'),
          <>
            {delivery.url} {state === 'on' ? null : <EndpointState state={state} />}
          </>,
        ],
        [
          'ID',
          <>
            <Short text={delivery.event} what="ID" />
            <Link
              className={buttonClass({ kind: 'quiet', small: true })}
              to="/projects/$project/$mode/event-log"
              params={scope}
              search={{ show: delivery.event }}
            >
              {t('open_event')}
            </Link>
          </>,
        ],
        [
          t('payment'),
          delivery.payment === null ? null : <PaymentLink payment={delivery.payment} name={delivery.payment_name} />,
        ],
        [t('created'), <Moment iso={delivery.created_at} />],
        [t('next_attempt'), next === null ? null : <Moment iso={next} />],
      ]}
    />
  );
}

function Hint({ delivery, onCheck }: { readonly delivery: DeliveryView; readonly onCheck: () => void }) {
  const { t } = useLocale('webhooks');
  const hint = hintOf(delivery);
  if (hint === null) return null;
  return (
    <Notice kind="warning">
      <div className={css.hint}>
        <strong>{t('hint')}</strong>
        <p>{t(hint.text)}</p>
        {hint.isSignature === true ? (
          <Button small onClick={onCheck}>
            {t('check_signature')}
          </Button>
        ) : null}
      </div>
    </Notice>
  );
}

function Retry({ delivery: { id, endpoint_state: state } }: { readonly delivery: DeliveryView }) {
  const { t } = useLocale('webhooks');
  const { toast } = useDashboard();
  const scope = useScope();
  const retry = useChange({
    send: (api) =>
      api('POST /dashboard/api/projects/:project/:mode/deliveries/:delivery/retry', {
        params: { ...scope, delivery: id },
      }),
    shows: deliveryQuery(scope, id),
    stale: [...webhooksKey(scope), 'newest'],
    onDone: (delivery) => {
      const status = delivery.attempts[0]?.status ?? null;
      const text = status === null ? t('delivery_retried_none') : t('delivery_retried', { status });
      toast(text, delivery.state === 'delivered' ? 'good' : 'problem');
    },
  });
  if (state === 'disabled' || state === 'deleted') return null;
  return (
    <>
      <Problem error={retry.error} />
      <div className={logCss.buttons}>
        <Button small icon="refresh" busy={retry.isPending} onClick={() => retry.mutate()}>
          {t('retry')}
        </Button>
      </div>
    </>
  );
}

function Attempt({ attempt, isOpen }: { readonly attempt: AttemptView; readonly isOpen: boolean }) {
  const { t, number } = useLocale('webhooks');
  const { status, error, response_body: body, response_headers: headers } = attempt;
  return (
    <details className={css.attempt} open={isOpen}>
      <summary>
        <strong>
          <Answer status={status} stage={attempt.error_stage} />
        </strong>
        <span>{t('duration_ms', { ms: number(attempt.duration_ms) })}</span>
        <span className={logCss.soft}>
          <Moment iso={attempt.at} />
          {attempt.manual ? ` · ${t('attempt_manual')}` : null}
        </span>
      </summary>
      <div>
        {error === null ? null : <p>{error}</p>}
        {headers === null ? null : <HeaderList title={`${t('response')}: ${t('header')}`} headers={headers} />}
        {body === null ? null : body === '' ? (
          <p className={logCss.soft}>{t('response_empty')}</p>
        ) : (
          <CodeBlock title={`${t('response')}: ${t('body')}`} text={body} what={t('copied_answer')} />
        )}
        {attempt.response_truncated ? <p className={logCss.soft}>{t('response_truncated')}</p> : null}
        <HeaderList title={`${t('request')}: ${t('header')}`} headers={attempt.request_headers} />
      </div>
    </details>
  );
}
