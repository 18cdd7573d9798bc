import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { EventRowView } from '../../../../src/http/dashboard/event-log/contract.ts';
import type { EndpointView } from '../../../../src/http/dashboard/webhooks/contract.ts';
import { useChange } from '../../change.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/form.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { endpointsQuery, webhooksKey } from '../webhooks/queries.ts';

interface SendAgainProps {
  readonly event: string;
  readonly type: EventRowView['type'];
  readonly onClose: () => void;
}

/** Sends an event again, to one endpoint or to all that are on. */
export function SendAgainDialog(props: SendAgainProps) {
  const { t } = useLocale('webhooks');
  const scope = useScope();
  const endpoints = useQuery(endpointsQuery(scope));
  const format = endpoints.data?.events.find((one) => one.type === props.type)?.format ?? null;
  const on = endpoints.data?.data.filter((one) => one.state === 'on' && one.format === format) ?? [];
  if (on.length > 0) return <SendAgainForm {...props} endpoints={on} />;
  return (
    <Dialog title={t('resend_event')} onClose={props.onClose}>
      {endpoints.data === undefined ? (
        <NotLoaded query={endpoints} rows={3} />
      ) : (
        <>
          <p>{t('resend_none')}</p>
          <div>
            <Link className={buttonClass()} to="/projects/$project/$mode/webhooks" params={scope}>
              {t('webhooks')}
            </Link>
          </div>
        </>
      )}
    </Dialog>
  );
}

function SendAgainForm({
  event,
  endpoints,
  onClose,
}: SendAgainProps & { readonly endpoints: readonly EndpointView[] }) {
  const { t } = useLocale('webhooks');
  const scope = useScope();
  const [endpoint, setEndpoint] = useState('');
  const [request] = useState(() => crypto.randomUUID());
  const send = useChange({
    send: (api) =>
      api('POST /dashboard/api/projects/:project/:mode/event-log/:event/resend', {
        params: { ...scope, event },
        body: { endpoint: endpoint === '' ? null : endpoint, request },
      }),
    stale: webhooksKey(scope),
    done: ({ deliveries }) => t('event_resent', { count: deliveries.length }),
    onDone: onClose,
  });
  return (
    <FormDialog name={t('resend_event')} text={t('resend_event_text')} action={send} onClose={onClose}>
      <SelectField
        label={t('endpoint')}
        value={endpoint}
        options={[['', t('resend_to_all')], ...endpoints.map(({ id, url }) => [id, url] as const)]}
        onValue={setEndpoint}
      />
    </FormDialog>
  );
}
