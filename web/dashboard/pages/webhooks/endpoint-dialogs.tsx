import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AnswerOf } from '../../../../src/http/dashboard/contract.ts';
import type { EndpointView } from '../../../../src/http/dashboard/webhooks/contract.ts';
import type { Api } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { ConfirmDialog, FormDialog } from '../../ui/action-dialog.tsx';
import { Choices } from '../../ui/choices.tsx';
import { CopyButton } from '../../ui/value.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { SelectField } from '../../ui/form.tsx';
import { CodeBlock } from '../log/log-panel.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { endpointsQuery, webhooksKey, retryQuery, runningRetryQuery } from './queries.ts';
import { MEANINGS } from './meanings.ts';
import css from './webhooks.module.css';
import type { Opened } from './webhooks-page.tsx';
import { filtersOf, type WebhooksSearch } from './search.ts';
import { useChange, type Change } from '../../change.ts';
import { useScope, type Scope } from '../../scope.ts';

type Endpoints = AnswerOf<'GET /dashboard/api/projects/:project/:mode/webhooks'>;
type Made = AnswerOf<'POST /dashboard/api/projects/:project/:mode/webhooks'>;

interface EndpointDialogsProps {
  readonly opened: Exclude<Opened, { readonly kind: 'retry' }>;
  readonly events: Endpoints['events'];
  readonly checks: Endpoints['checks'];
  /** Shows the delivery of a test event. */
  readonly onSent: (delivery: string) => void;
  readonly onClose: () => void;
}

/** The dialogs of endpoints. A new secret is shown before the dialog closes. */
export function EndpointDialogs({ opened, events, checks, onSent, onClose }: EndpointDialogsProps) {
  const [made, setSecret] = useState<Made | null>(null);
  if (made !== null) return <SecretDialog made={made} checks={checks} onClose={onClose} />;
  switch (opened.kind) {
    case 'check':
      return <CheckDialog checks={checks} onClose={onClose} />;
    case 'create':
      return <EndpointForm events={events} endpoint={null} onSecret={setSecret} onClose={onClose} />;
    case 'change':
      return <EndpointForm events={events} endpoint={opened.endpoint} onSecret={setSecret} onClose={onClose} />;
    case 'rotate':
      return <RotateDialog endpoint={opened.endpoint} onSecret={setSecret} onClose={onClose} />;
    case 'test':
      return <TestDialog endpoint={opened.endpoint} events={events} onSent={onSent} onClose={onClose} />;
    case 'pause':
    case 'enable':
    case 'delete':
      return <SwitchDialog kind={opened.kind} endpoint={opened.endpoint} onClose={onClose} />;
  }
}

/** Adds an endpoint from any page. */
export function NewEndpointDialog({ onClose }: Pick<EndpointDialogsProps, 'onClose'>) {
  const { t } = useLocale('webhooks');
  const endpoints = useQuery(endpointsQuery(useScope()));
  if (endpoints.data !== undefined) {
    const { events, checks } = endpoints.data;
    return <EndpointDialogs opened={{ kind: 'create' }} {...{ events, checks, onClose }} onSent={onClose} />;
  }
  return (
    <Dialog title={t('create_endpoint')} onClose={onClose}>
      <NotLoaded query={endpoints} rows={4} />
    </Dialog>
  );
}

interface EndpointProps {
  readonly endpoint: EndpointView;
  readonly onClose: () => void;
}

const DONE = { pause: 'endpoint_paused', enable: 'endpoint_enabled', delete: 'endpoint_deleted' } as const;

interface EndpointAct<Answer> extends Omit<Change<Answer, void>, 'send' | 'stale'> {
  readonly act: (api: Api, params: Scope & { readonly endpoint: string }) => Promise<Answer>;
}

/** Makes a request about one endpoint. */
function useAct<Answer>({ id }: EndpointView, { act, ...change }: EndpointAct<Answer>) {
  const scope = useScope();
  return useChange({ ...change, send: (api) => act(api, { ...scope, endpoint: id }), stale: webhooksKey(scope) });
}

const ENDPOINT = 'POST /dashboard/api/projects/:project/:mode/webhooks/:endpoint';

function SwitchDialog({ kind, endpoint, onClose }: EndpointProps & { readonly kind: keyof typeof DONE }) {
  const { t } = useLocale('webhooks');
  const action = useAct<unknown>(endpoint, {
    act: (api, params) => api(`${ENDPOINT}/${kind}`, { params }),
    done: t(DONE[kind]),
    onDone: onClose,
  });
  const text =
    kind !== 'enable'
      ? t(`${kind}_endpoint_text`)
      : t(endpoint.state === 'paused' ? 'enable_endpoint_text_paused' : 'enable_endpoint_text_disabled');
  return (
    <ConfirmDialog
      name={t(`${kind}_endpoint`)}
      text={text}
      isDangerous={kind === 'delete'}
      action={action}
      onClose={onClose}
    >
      <p>
        <strong>{endpoint.url}</strong>
      </p>
    </ConfirmDialog>
  );
}

const OVERLAPS = ['24', '72', '0'] as const;
type Overlap = (typeof OVERLAPS)[number];

function RotateDialog({ endpoint, onSecret, onClose }: EndpointProps & { readonly onSecret: (made: Made) => void }) {
  const { t, dateTime } = useLocale('webhooks');
  const [overlap, setOverlap] = useState<Overlap>('24');
  // The time until which the previous secret also signs, which another rotation ends.
  const until = endpoint.previous_secret_until;
  const rotate = useAct(endpoint, {
    act: (api, params) => api(`${ENDPOINT}/rotate`, { params, body: { overlap_hours: Number(overlap) } }),
    onDone: onSecret,
  });
  return (
    <FormDialog name={t('rotate_secret')} text={t('rotate_secret_text')} action={rotate} onClose={onClose}>
      {until === null ? null : <Notice kind="warning">{t('rotate_secret_again', { when: dateTime(until) })}</Notice>}
      <Choices
        label={t('overlap')}
        value={overlap}
        options={OVERLAPS.map((value) => ({
          value,
          text: t(`overlap_${value}`),
          detail: t(value === '0' ? 'overlap_0_detail' : 'overlap_detail'),
        }))}
        onValue={setOverlap}
      />
    </FormDialog>
  );
}

interface TestProps extends EndpointProps {
  readonly events: Endpoints['events'];
  readonly onSent: (delivery: string) => void;
}

function TestDialog({ endpoint, events, onSent, onClose }: TestProps) {
  const { t } = useLocale('webhooks');
  const own = events.filter(({ format }) => format === endpoint.format);
  const [type, setType] = useState<Endpoints['events'][number]['type']>(
    endpoint.format === null ? 'order.completed' : 'InvoiceSettled',
  );
  const send = useAct(endpoint, {
    act: (api, params) => api(`${ENDPOINT}/test`, { params, body: { type } }),
    onDone: ({ delivery }) => {
      onSent(delivery);
      onClose();
    },
  });
  return (
    <FormDialog name={t('send_test')} text={t('send_test_text')} action={send} onClose={onClose}>
      <SelectField
        label={t('test_type')}
        value={type}
        options={own.map((one) => [one.type, one.type] as const)}
        onValue={(value) => setType(own.find((one) => one.type === value)?.type ?? type)}
      />
      <p>{t(MEANINGS[type])}</p>
    </FormDialog>
  );
}

interface ChecksProps {
  readonly checks: Endpoints['checks'];
  readonly onClose: () => void;
}

/** Shows a secret. Only its button closes it, because the secret is never shown again. Shops' plugins need no code. */
function SecretDialog({ made: { endpoint, secret }, checks, onClose }: ChecksProps & { readonly made: Made }) {
  const { t } = useLocale('webhooks');
  return (
    <Dialog title={t('secret_title')} wide>
      <Notice kind="warning">{t('secret_once')}</Notice>
      <p className={css.secret}>
        <code>{secret}</code>
      </p>
      <div>
        <CopyButton text={secret}>{t('copy_what', { what: t('secret') })}</CopyButton>
      </div>
      {endpoint.format === null ? <Checks checks={checks} /> : null}
      <DialogActions confirm={t('secret_kept')} onConfirm={onClose} />
    </Dialog>
  );
}

function CheckDialog({ checks, onClose }: ChecksProps) {
  const { t } = useLocale('webhooks');
  return (
    <Dialog title={t('check_signature')} wide onClose={onClose}>
      <Checks checks={checks} />
    </Dialog>
  );
}

/** Code with which a receiver checks the signature, in the chosen language. */
function Checks({ checks }: Pick<ChecksProps, 'checks'>) {
  const { t } = useLocale('webhooks');
  const [name, setName] = useState(checks[0]?.name ?? '');
  const chosen = checks.find((one) => one.name === name);
  const languages = checks.map((one) => [one.name, one.name] as const);
  return (
    <div className={css.check}>
      <p>{t('check_signature_text')}</p>
      <SelectField label={t('check_language')} value={name} options={languages} onValue={setName} />
      {chosen === undefined ? null : <CodeBlock title={chosen.name} text={chosen.code} what={t('code')} />}
    </div>
  );
}

const RETRIES = 'POST /dashboard/api/projects/:project/:mode/delivery-retries';

interface RetryAllDialogProps {
  readonly search: WebhooksSearch;
  readonly onClose: () => void;
}

/** Sends all deliveries again that match the filters and did not arrive. */
export function RetryAllDialog({ search, onClose }: RetryAllDialogProps) {
  const { t } = useLocale('webhooks');
  const { queries } = useDashboard();
  const scope = useScope();
  const retry = useChange({
    send: (api) => api(RETRIES, { params: scope, body: filtersOf(search) }),
    onDone: (started) => {
      queries.setQueryData(retryQuery(scope, started.id).queryKey, started);
      queries.setQueryData(runningRetryQuery(scope).queryKey, { running: started });
      onClose();
    },
  });
  return <ConfirmDialog name={t('retry_all')} text={t('retry_all_text')} action={retry} onClose={onClose} />;
}
