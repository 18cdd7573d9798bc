import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import type { EndpointView } from '../../../../src/http/dashboard/webhooks/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Page } from '../../shell/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty, Loaded } from '../../ui/placeholder.tsx';
import { EventPayment } from '../log/event-payment.tsx';
import { LogView, type LogColumn } from '../log/log-view.tsx';
import { DeliveryPanel } from './delivery-panel.tsx';
import { EndpointList, type EndpointAction, Answer, DeliveryState } from './endpoint-list.tsx';
import { Notice } from '../../ui/notice.tsx';
import { endpointsQuery } from './queries.ts';
import { usePageSearch } from '../../search.ts';
import { useLog } from '../log/use-log.ts';
import { asOptions, LogFilters, usePeriodRow } from '../log/log-filters.tsx';
import { RetryProgress } from './retry-progress.tsx';
import { filtersOf, webhooksSearch, type WebhooksSearch, ANSWERS, STATES } from './search.ts';
import type { DeliveryRowView } from '../../../../src/http/dashboard/deliveries/contract.ts';
import { Ago } from '../../ui/value.tsx';
import { None } from '../payments/payment-table.tsx';
import css from './webhooks.module.css';
import { useActions } from '../../session.ts';
import { useScope } from '../../scope.ts';

const EndpointDialogs = lazy(async () => ({ default: (await import('./endpoint-dialogs.tsx')).EndpointDialogs }));
const RetryAllDialog = lazy(async () => ({ default: (await import('./endpoint-dialogs.tsx')).RetryAllDialog }));

/** A dialog over the page. */
export type Opened =
  | { readonly kind: 'retry' }
  | { readonly kind: 'create' | 'check' }
  | { readonly kind: EndpointAction; readonly endpoint: EndpointView };

/** The endpoints of a project and mode, and their deliveries. */
export function WebhooksPage() {
  const { t } = useLocale('webhooks');
  const page = usePageSearch(webhooksSearch);
  const { search, unread, onShow } = page;
  const mayManage = useActions().includes('manage_webhooks');
  const endpoints = useQuery(endpointsQuery(useScope()));
  const [opened, open] = useState<Opened | null>(null);
  const hasEndpoints = (endpoints.data?.data.length ?? 0) > 0;
  const addEndpoint = (
    <Button kind="primary" icon="plus" onClick={() => open({ kind: 'create' })}>
      {t('create_endpoint')}
    </Button>
  );
  return (
    <Page
      hasTimes
      title={t('webhooks')}
      actions={
        <>
          <Button onClick={() => open({ kind: 'check' })}>{t('check_signature')}</Button>
          {hasEndpoints && mayManage ? addEndpoint : null}
        </>
      }
    >
      <Card title={t('endpoints')} flush>
        <Loaded query={endpoints} rows={3}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty icon="webhook" title={t('endpoints_none_title')} text={t('endpoints_none_text')}>
                {mayManage ? addEndpoint : undefined}
              </Empty>
            ) : (
              <EndpointList
                endpoints={data}
                mayManage={mayManage}
                onAction={(kind, endpoint) => open({ kind, endpoint })}
              />
            )
          }
        </Loaded>
      </Card>
      {unread.length === 0 ? null : (
        <Notice kind="warning">{t('log_filters_unread', { filters: unread.join(', ') })}</Notice>
      )}
      <Deliveries
        page={page}
        endpoints={endpoints.data?.data ?? []}
        types={endpoints.data?.events.map(({ type }) => type) ?? []}
        onCheck={() => open({ kind: 'check' })}
        onRetryAll={mayManage ? () => open({ kind: 'retry' }) : null}
      />
      <Suspense>
        {opened === null ? null : opened.kind === 'retry' ? (
          <RetryAllDialog search={search} onClose={() => open(null)} />
        ) : endpoints.data === undefined ? null : (
          <EndpointDialogs
            opened={opened}
            events={endpoints.data.events}
            checks={endpoints.data.checks}
            onSent={onShow}
            onClose={() => open(null)}
          />
        )}
      </Suspense>
    </Page>
  );
}

interface DeliveriesProps {
  readonly page: ReturnType<typeof usePageSearch<WebhooksSearch>>;
  readonly endpoints: readonly EndpointView[];
  readonly types: readonly string[];
  readonly onCheck: () => void;
  /** Null for people who may not. */
  readonly onRetryAll: (() => void) | null;
}

const DELIVERIES = 'GET /dashboard/api/projects/:project/:mode/deliveries';

function Deliveries({ page, endpoints, types, onCheck, onRetryAll }: DeliveriesProps) {
  const { t } = useLocale('webhooks');
  const { search, isNarrowed, onShow } = page;
  const log = useLog({ route: DELIVERIES, filters: filtersOf(search) });
  const hasAny = log.list.data?.pages[0]?.data.length !== 0;
  return (
    <section aria-labelledby="deliveries">
      <Filters page={page} endpoints={endpoints} types={types} onRetryAll={hasAny ? onRetryAll : null} />
      <RetryProgress />
      <LogView
        {...log}
        label={t('deliveries')}
        columns={useDeliveryColumns()}
        empty={{ icon: 'webhook', title: t('deliveries_none_title'), text: t('deliveries_none_text') }}
        noMatch={isNarrowed ? t('deliveries_no_match') : null}
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
    { key: 'state', title: t('state'), cell: (row) => <DeliveryState {...row} /> },
    {
      key: 'answer',
      title: t('answer'),
      from: 'medium',
      cell: (row) => (row.attempted_at === null ? <None /> : <Answer status={row.status} stage={row.error_stage} />),
    },
    {
      key: 'payment',
      title: t('payment'),
      from: 'medium',
      cell: (row) => <EventPayment {...row} />,
    },
    { key: 'endpoint', title: t('endpoint'), from: 'wide', cell: ({ url }) => shortUrl(url) },
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

/** The URL without its scheme and with a hidden query. */
function shortUrl(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\?.*$/s, '?…');
}

interface FiltersProps {
  readonly page: DeliveriesProps['page'];
  readonly endpoints: readonly EndpointView[];
  readonly types: readonly string[];
  readonly onRetryAll: (() => void) | null;
}

/** The heading of the deliveries and their filters, which are in the URL. */
function Filters({ page: { search, isNarrowed, onChange, onClear }, endpoints, types, onRetryAll }: FiltersProps) {
  const { t } = useLocale('webhooks');
  return (
    <>
      <div className={css.deliveriesHead}>
        <h2 id="deliveries">{t('deliveries')}</h2>
        {onRetryAll === null ? null : <Button onClick={onRetryAll}>{t('retry_all')}</Button>}
      </div>
      <LogFilters
        search={search}
        isNarrowed={isNarrowed}
        rows={[
          ['payment', t('payment_id')],
          ['endpoint', t('endpoint'), t('deliveries_any_endpoint'), endpoints.map(({ id, url }) => [id, url])],
          ['type', t('event'), t('deliveries_any_type'), asOptions(types)],
          ['state', t('state'), t('deliveries_any_state'), STATES.map((one) => [one, t(`delivery_${one}`)])],
          [
            'answer',
            t('answer'),
            t('answer_any'),
            ANSWERS.map((one) => [one, one === 'none' ? t('answer_none') : one]),
          ],
          usePeriodRow(),
        ]}
        onChange={onChange}
        onClear={onClear}
      />
    </>
  );
}
