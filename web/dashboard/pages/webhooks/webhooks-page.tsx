import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { EndpointView } from '../../../../src/http/dashboard/contract/webhooks.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemText } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { Page } from '../../shell/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { LogList } from '../log/log-list.tsx';
import { LogSplit } from '../log/log-split.tsx';
import { DeliveryPanel } from './delivery-panel.tsx';
import { DeliveryTable } from './delivery-table.tsx';
import { Filters } from './delivery-filters.tsx';
import { EndpointList, type EndpointAction } from './endpoint-list.tsx';
import { useMayManage } from './may-manage.ts';
import { deliveriesQuery, endpointsQuery, newestDeliveriesQuery } from './queries.ts';
import { RetryProgress } from './retry-progress.tsx';
import { filtersOf, isNarrowed, webhooksSearch, type WebhooksChange, type WebhooksSearch } from './search.ts';

const EndpointDialogs = lazy(async () => ({ default: (await import('./endpoint-dialogs.tsx')).EndpointDialogs }));
const RetryAllDialog = lazy(async () => ({ default: (await import('./retry-all-dialog.tsx')).RetryAllDialog }));

/** A dialog over the page. */
export type Opened =
  | { readonly kind: 'retry' }
  | { readonly kind: 'create' | 'check' }
  | { readonly kind: EndpointAction; readonly endpoint: EndpointView };

/** The endpoints of a project and mode, and what was sent to them. */
export function WebhooksPage() {
  const { t } = useLocale('webhooks');
  const search = webhooksSearch(useSearch({ from: '/signed-in/projects/$project/$mode/webhooks' }));
  const navigate = useNavigate({ from: '/projects/$project/$mode/webhooks' });
  const set = (change: WebhooksChange, replace = false): void =>
    void navigate({ search: (before) => webhooksSearch({ ...before, ...change }), replace, resetScroll: false });
  const { api } = useDashboard();
  const scope = useScope();
  const mayManage = useMayManage();
  const found = useQuery(endpointsQuery(api, scope));
  const [opened, open] = useState<Opened | null>(null);
  return (
    <Page
      title={t('webhooks')}
      hasTimes
      actions={
        <>
          <Button onClick={() => open({ kind: 'check' })}>{t('check_signature')}</Button>
          {mayManage ? (
            <Button kind="primary" icon="plus" onClick={() => open({ kind: 'create' })}>
              {t('create_endpoint')}
            </Button>
          ) : null}
        </>
      }
    >
      <Card title={t('endpoints')} flush>
        {found.data === undefined ? (
          found.error === null ? (
            <SkeletonRows count={3} />
          ) : (
            <Empty icon="warning" title={t('fault_title')} text={problemText(found.error, t)}>
              <Button onClick={() => void found.refetch()}>{t('try_again')}</Button>
            </Empty>
          )
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
      <Deliveries
        search={search}
        endpoints={found.data?.data ?? []}
        types={found.data?.events.map(({ type }) => type) ?? []}
        onChange={set}
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
            onSent={(delivery) => set({ show: delivery })}
            onClose={() => open(null)}
          />
        )}
      </Suspense>
    </Page>
  );
}

interface DeliveriesProps {
  readonly search: WebhooksSearch;
  readonly endpoints: readonly EndpointView[];
  readonly types: readonly string[];
  readonly onChange: (change: WebhooksChange, replace?: boolean) => void;
  readonly onCheck: () => void;
  /** Null for people who may not. */
  readonly onRetryAll: (() => void) | null;
}

function Deliveries({ search, endpoints, types, onChange, onCheck, onRetryAll }: DeliveriesProps) {
  const { t } = useLocale('webhooks');
  const { api } = useDashboard();
  const scope = useScope();
  const filters = filtersOf(search);
  const list = useInfiniteQuery(deliveriesQuery(api, scope, filters));
  const newest = useQuery({ ...newestDeliveriesQuery(api, scope, filters), enabled: list.data !== undefined });
  const { show } = search;
  return (
    <section aria-labelledby="deliveries">
      <Filters
        search={search}
        endpoints={endpoints}
        types={types}
        onChange={(change) => onChange(change, true)}
        onRetryAll={onRetryAll}
      />
      <RetryProgress />
      <LogSplit
        panel={
          show === undefined ? null : (
            <DeliveryPanel
              key={show}
              delivery={show}
              mayManage={onRetryAll !== null}
              onCheck={onCheck}
              onClose={() => onChange({ show: undefined })}
            />
          )
        }
      >
        <LogList
          list={list}
          newest={newest}
          empty={
            isNarrowed(search) ? (
              <Empty icon="filter" title={t('no_matches_title')} text={t('deliveries_no_match')} />
            ) : (
              <Empty icon="webhook" title={t('deliveries_none_title')} text={t('deliveries_none_text')} />
            )
          }
        >
          {(rows) => (
            <DeliveryTable rows={rows} shown={show} onShow={(id) => onChange({ show: id }, show !== undefined)} />
          )}
        </LogList>
      </LogSplit>
    </section>
  );
}
