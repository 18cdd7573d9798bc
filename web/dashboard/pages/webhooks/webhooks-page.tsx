import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import type { EndpointView } from '../../../../src/http/dashboard/webhooks/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { Page } from '../../shell/page.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty, NotLoaded } from '../../ui/placeholder.tsx';
import { LogView } from '../log/log-view.tsx';
import { useLogSearch, type LogChange, useLog } from '../log/use-log.ts';
import { DeliveryPanel } from './delivery-panel.tsx';
import { EndpointList, type EndpointAction } from './endpoint-list.tsx';
import { Notice } from '../../ui/notice.tsx';
import { deliveryLog, endpointsQuery } from './queries.ts';
import { RetryProgress } from './retry-progress.tsx';
import { filtersOf, isNarrowed, webhooksSearch, type WebhooksSearch, ANSWERS, STATES } from './search.ts';
import type { DeliveryRowView } from '../../../../src/http/dashboard/deliveries/contract.ts';
import { Ago } from '../../ui/value.tsx';
import type { LogColumn } from '../log/log-table.tsx';
import { None } from '../payments/payment-table.tsx';
import { Answer, DeliveryState } from './states.tsx';
import { SearchField } from '../../ui/field.tsx';
import { asOptions, FilterSelects, PeriodSelect } from '../log/filter-select.tsx';
import filters from '../payments/payments-page.module.css';
import css from './webhooks.module.css';
import { useActions } from '../../session.ts';

const EndpointDialogs = lazy(async () => ({ default: (await import('./endpoint-dialogs.tsx')).EndpointDialogs }));
const RetryAllDialog = lazy(async () => ({ default: (await import('./endpoint-dialogs.tsx')).RetryAllDialog }));

/** A dialog over the page. */
export type Opened =
  | { readonly kind: 'retry' }
  | { readonly kind: 'create' | 'check' }
  | { readonly kind: EndpointAction; readonly endpoint: EndpointView };

/** The endpoints of a project and mode, and what was sent to them. */
export function WebhooksPage() {
  const { t } = useLocale('webhooks');
  const { search, unread, onChange, onShow } = useLogSearch(webhooksSearch);
  const { api } = useDashboard();
  const scope = useScope();
  const mayManage = useActions().includes('manage_webhooks');
  const found = useQuery(endpointsQuery(api, scope));
  const [opened, open] = useState<Opened | null>(null);
  return (
    <Page title={t('webhooks')} hasTimes actions={<Actions mayManage={mayManage} onOpen={(kind) => open({ kind })} />}>
      <Card title={t('endpoints')} flush>
        {found.data === undefined ? (
          <NotLoaded query={found} rows={3} />
        ) : found.data.data.length === 0 ? (
          <Empty icon="webhook" title={t('endpoints_none_title')} text={t('endpoints_none_text')} />
        ) : (
          <EndpointList
            endpoints={found.data.data}
            mayManage={mayManage}
            onAction={(kind, endpoint) => open({ kind, endpoint })}
          />
        )}
      </Card>
      {unread.length === 0 ? null : (
        <Notice kind="warning">{t('log_filters_unread', { filters: unread.join(', ') })}</Notice>
      )}
      <Deliveries
        search={search}
        endpoints={found.data?.data ?? []}
        types={found.data?.events.map(({ type }) => type) ?? []}
        onChange={onChange}
        onShow={onShow}
        onCheck={() => open({ kind: 'check' })}
        onRetryAll={mayManage ? () => open({ kind: 'retry' }) : null}
      />
      <Suspense>
        {opened === null ? null : opened.kind === 'retry' ? (
          <RetryAllDialog search={search} onClose={() => open(null)} />
        ) : found.data === undefined ? null : (
          <EndpointDialogs
            opened={opened}
            events={found.data.events}
            checks={found.data.checks}
            onSent={onShow}
            onClose={() => open(null)}
          />
        )}
      </Suspense>
    </Page>
  );
}

interface ActionsProps {
  readonly mayManage: boolean;
  readonly onOpen: (kind: 'check' | 'create') => void;
}

function Actions({ mayManage, onOpen }: ActionsProps) {
  const { t } = useLocale('webhooks');
  return (
    <>
      <Button onClick={() => onOpen('check')}>{t('check_signature')}</Button>
      {mayManage ? (
        <Button kind="primary" icon="plus" onClick={() => onOpen('create')}>
          {t('create_endpoint')}
        </Button>
      ) : null}
    </>
  );
}

interface DeliveriesProps {
  readonly search: WebhooksSearch;
  readonly endpoints: readonly EndpointView[];
  readonly types: readonly string[];
  readonly onChange: (change: LogChange) => void;
  readonly onShow: (delivery: string | undefined) => void;
  readonly onCheck: () => void;
  /** Null for people who may not. */
  readonly onRetryAll: (() => void) | null;
}

function Deliveries({ search, endpoints, types, onChange, onShow, onCheck, onRetryAll }: DeliveriesProps) {
  const { t } = useLocale('webhooks');
  return (
    <section aria-labelledby="deliveries">
      <Filters search={search} endpoints={endpoints} types={types} onChange={onChange} onRetryAll={onRetryAll} />
      <RetryProgress />
      <LogView
        {...useLog((api, scope) => deliveryLog(api, scope, filtersOf(search)))}
        label={t('deliveries')}
        columns={useDeliveryColumns()}
        empty={{ icon: 'webhook', title: t('deliveries_none_title'), text: t('deliveries_none_text') }}
        noMatch={isNarrowed(search) ? t('deliveries_no_match') : null}
        shown={search.show}
        onShow={onShow}
        panel={(id, onClose) => (
          <DeliveryPanel key={id} delivery={id} mayManage={onRetryAll !== null} onCheck={onCheck} onClose={onClose} />
        )}
      />
    </section>
  );
}

function useDeliveryColumns(): readonly LogColumn<DeliveryRowView>[] {
  const { t, number } = useLocale('webhooks');
  return [
    { key: 'type', title: t('event'), cell: ({ type }) => type },
    { key: 'state', title: t('state'), cell: ({ state }) => <DeliveryState state={state} /> },
    {
      key: 'answer',
      title: t('answer'),
      cell: (row) => (row.attempted_at === null ? <None /> : <Answer status={row.status} stage={row.error_stage} />),
    },
    { key: 'endpoint', title: t('endpoint'), from: 'medium', cell: ({ url }) => shortUrl(url) },
    {
      key: 'duration',
      title: t('duration'),
      from: 'wide',
      isNumber: true,
      cell: (row) => (row.duration_ms === null ? <None /> : t('duration_ms', { ms: number(row.duration_ms) })),
    },
    { key: 'when', title: t('when'), isNumber: true, cell: (row) => <Ago iso={row.created_at} /> },
  ];
}

/** Without its scheme, and of its query only that there is one. */
function shortUrl(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\?.*$/s, '?…');
}

interface FiltersProps {
  readonly search: WebhooksSearch;
  readonly endpoints: readonly EndpointView[];
  readonly types: readonly string[];
  readonly onChange: (change: LogChange) => void;
  readonly onRetryAll: (() => void) | null;
}

const NO_FILTERS = {
  endpoint: undefined,
  type: undefined,
  state: undefined,
  answer: undefined,
  period: undefined,
  payment: undefined,
} as const satisfies LogChange;

/** The heading of the deliveries and their filters, which are in the URL. */
function Filters({ search, endpoints, types, onChange, onRetryAll }: FiltersProps) {
  const { t } = useLocale('webhooks');
  const { period, payment } = search;
  return (
    <>
      <div className={css.deliveriesHead}>
        <h2 id="deliveries">{t('deliveries')}</h2>
        {onRetryAll === null ? null : <Button onClick={onRetryAll}>{t('retry_all')}</Button>}
      </div>
      <div className={filters.filters} role="search">
        <SearchField
          label={t('payment_id')}
          text={payment ?? ''}
          onText={(text) => onChange({ payment: text?.slice(0, 64) })}
        />
        <FilterSelects
          search={search}
          onChange={onChange}
          rows={[
            [
              'endpoint',
              t('endpoint'),
              t('deliveries_any_endpoint'),
              endpoints.map(({ id, url }) => [id, url] as const),
            ],
            ['type', t('event'), t('deliveries_any_type'), asOptions(types)],
            ['state', t('state'), t('deliveries_any_state'), STATES.map((one) => [one, t(`delivery_${one}`)] as const)],
            [
              'answer',
              t('answer'),
              t('answer_any'),
              ANSWERS.map((one) => [one, one === 'none' ? t('answer_none') : one] as const),
            ],
          ]}
        />
        <PeriodSelect period={period} onPeriod={(value) => onChange({ period: value })} />
        {isNarrowed(search) ? <LinkButton onClick={() => onChange(NO_FILTERS)}>{t('clear_filters')}</LinkButton> : null}
      </div>
    </>
  );
}
