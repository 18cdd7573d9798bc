import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { EventRowView } from '../../../../src/http/dashboard/event-log/contract.ts';
import { reads } from '../../api.ts';
import { useLocale } from '../../locale.tsx';
import { useScope, type Scope } from '../../scope.ts';
import { useActions } from '../../session.ts';
import { Button } from '../../ui/button.tsx';
import { Facts, Moment, Short } from '../../ui/value.tsx';
import { LogOfPayment } from '../log/log-of-payment.tsx';
import { CodeBlock, LogPanel, PaymentLink } from '../log/log-panel.tsx';
import logCss from '../log/log.module.css';
import { projectKey } from '../payments/queries.ts';
import { MEANINGS } from '../webhooks/meanings.ts';
import { SendAgainDialog } from './send-again-dialog.tsx';

function eventQuery(scope: Scope, event: string) {
  const params = { ...scope, event };
  const query = reads([...projectKey(scope), 'event'], 'GET /dashboard/api/projects/:project/:mode/event-log/:event', {
    params,
  });
  // An event never changes.
  return { ...query, staleTime: Infinity };
}

interface EventPanelProps {
  readonly event: string;
  readonly onClose: () => void;
}

/** One event: the bytes that are sent, and sending them again. */
export function EventPanel({ event: id, onClose }: EventPanelProps) {
  const { t, number } = useLocale('webhooks');
  const found = useQuery(eventQuery(useScope(), id));
  return (
    <LogPanel title={t('event')} found={found} onClose={onClose}>
      {({ type, position, payment, payment_name: name, created_at: at, request_id: request, body }) => (
        <>
          <p>
            <strong>{type}</strong>
            <br />
            {t(MEANINGS[type])}
          </p>
          <Facts
            facts={[
              ['ID', <Short text={id} what="ID" />],
              [t('event_position'), position === null ? null : `#${number(position)}`],
              [t('created'), <Moment iso={at} />],
              [t('payment'), payment === null ? null : <PaymentLink payment={payment} name={name} />],
              [t('event_caused_by'), request === null ? null : <code>{request}</code>],
            ]}
          />
          <Acts event={id} type={type} payment={payment} />
          <CodeBlock title={t('body')} text={body} what={t('copied_body')} />
        </>
      )}
    </LogPanel>
  );
}

interface ActsProps {
  readonly event: string;
  readonly type: EventRowView['type'];
  readonly payment: string | null;
}

function Acts({ event, type, payment }: ActsProps) {
  const { t } = useLocale('webhooks');
  const mayManage = useActions().includes('manage_webhooks');
  const [isOpen, setOpen] = useState(false);
  return (
    <div className={logCss.buttons}>
      {mayManage ? (
        <Button small icon="refresh" onClick={() => setOpen(true)}>
          {t('resend_event')}
        </Button>
      ) : null}
      {payment === null ? null : <LogOfPayment log="webhooks" payment={payment} text={t('deliveries')} />}
      {isOpen ? <SendAgainDialog event={event} type={type} onClose={() => setOpen(false)} /> : null}
    </div>
  );
}
