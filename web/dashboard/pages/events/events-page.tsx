import { useQuery, queryOptions } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { EventRowView } from '../../../../src/http/dashboard/event-log/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope, type Scope } from '../../scope.ts';
import { Page } from '../../shell/page.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { Short, Ago, Moment } from '../../ui/value.tsx';
import { SearchField } from '../../ui/field.tsx';
import { CodeBlock, Fact, Facts, PaymentFact, LogPanel } from '../log/log-panel.tsx';
import type { LogColumn } from '../log/log-table.tsx';
import { LogView } from '../log/log-view.tsx';
import logCss from '../log/log.module.css';
import { beginOf, isPeriod, type Period } from '../log/search.ts';
import { asOptions, FilterSelects, PeriodSelect } from '../log/filter-select.tsx';
import { None } from '../payments/payment-table.tsx';
import filters from '../payments/payments-page.module.css';
import { endpointsQuery } from '../webhooks/queries.ts';
import { isType } from '../webhooks/search.ts';
import { useLogSearch, type LogChange, useLog, logQueries } from '../log/use-log.ts';
import type { QueryOf } from '../../../../src/http/dashboard/contract.ts';
import type { Api } from '../../api.ts';
import { projectKey } from '../payments/queries.ts';

const LIST = 'GET /dashboard/api/projects/:project/:mode/event-log';
type EventFilters = Omit<QueryOf<typeof LIST>, 'after' | 'limit'>;

const EVERY_MS = 10_000;

/** The log of events. What no endpoint gets is reported by no stream, so it is polled too. */
function eventLog(api: Api, scope: Scope, filters: EventFilters) {
  return logQueries(scope, 'event-log', filters, {
    read: (after, signal) => api(LIST, { params: { ...scope }, query: { ...filters, ...after } }, signal),
    everyMs: EVERY_MS,
  });
}

function eventQuery(api: Api, scope: Scope, event: string) {
  return queryOptions({
    queryKey: [...projectKey(scope), 'event', event],
    queryFn: ({ signal }) => api(`${LIST}/:event`, { params: { ...scope, event } }, signal),
    // An event never changes.
    staleTime: Infinity,
  });
}

/** The filters of the log and the chosen event, as they stand in the URL. */
export interface EventsSearch {
  readonly type?: EventRowView['type'];
  readonly period?: Period;
  readonly payment?: string;
  readonly show?: string;
}

/** Reads the search from a URL's query. Unknown values are dropped. */
function searchOf({ type, period, payment, show }: Readonly<Record<string, unknown>>): EventsSearch {
  return {
    ...(isType(type) && { type }),
    ...(isPeriod(period) && { period }),
    ...(typeof payment === 'string' && payment !== '' && { payment: payment.slice(0, 64) }),
    ...(typeof show === 'string' && /^evt_[0-9a-z]{26}$/.test(show) && { show }),
  };
}

function filtersOf({ type, period, payment }: EventsSearch): EventFilters {
  return {
    ...(type !== undefined && { type }),
    ...(period !== undefined && { created_after: beginOf(period, Date.now()) }),
    ...(payment !== undefined && { payment }),
  };
}

/** The log of all events of a project and mode, with the bytes that are sent. */
export function EventsPage() {
  const { t } = useLocale('webhooks');
  const { search, onChange, onShow } = useLogSearch(searchOf);
  const wanted = filtersOf(search);
  const isNarrowed = Object.keys(wanted).length > 0;
  return (
    <Page title={t('events')} hasTimes>
      <EventFilterRow search={search} isNarrowed={isNarrowed} onChange={onChange} />
      <LogView
        {...useLog((api, scope) => eventLog(api, scope, wanted))}
        label={t('events')}
        columns={useColumns()}
        empty={{ icon: 'list', title: t('events_none_title'), text: t('events_none_text') }}
        noMatch={isNarrowed ? t('events_no_match') : null}
        shown={search.show}
        onShow={onShow}
        panel={(id, onClose) => <EventPanel key={id} event={id} onClose={onClose} />}
      />
    </Page>
  );
}

interface EventFilterRowProps {
  readonly search: EventsSearch;
  readonly isNarrowed: boolean;
  readonly onChange: (change: LogChange) => void;
}

function EventFilterRow({ search: { type, period, payment }, isNarrowed, onChange }: EventFilterRowProps) {
  const { t } = useLocale('webhooks');
  const { api } = useDashboard();
  const types = useQuery(endpointsQuery(api, useScope())).data?.events ?? [];
  return (
    <div className={filters.filters} role="search">
      <FilterSelects
        search={{ type }}
        onChange={onChange}
        rows={[['type', t('event'), t('deliveries_any_type'), asOptions(types.map((one) => one.type))]]}
      />
      <PeriodSelect period={period} onPeriod={(value) => onChange({ period: value })} />
      <SearchField label={t('payment_id')} text={payment ?? ''} onText={(text) => onChange({ payment: text })} />
      {isNarrowed ? (
        <LinkButton onClick={() => onChange({ type: undefined, period: undefined, payment: undefined })}>
          {t('clear_filters')}
        </LinkButton>
      ) : null}
    </div>
  );
}

function useColumns(): readonly LogColumn<EventRowView>[] {
  const { t, number } = useLocale('webhooks');
  return [
    { key: 'type', title: t('event'), cell: ({ type }) => type },
    { key: 'payment', title: t('payment'), from: 'medium', cell: ({ payment }) => payment ?? <None /> },
    {
      key: 'arrived',
      title: t('event_deliveries'),
      cell: ({ deliveries, delivered }) =>
        deliveries === 0 ? (
          <None />
        ) : (
          t('event_deliveries_of', { delivered: number(delivered), count: number(deliveries) })
        ),
    },
    { key: 'when', title: t('when'), isNumber: true, cell: (row) => <Ago iso={row.created_at} /> },
  ];
}

interface EventPanelProps {
  readonly event: string;
  readonly onClose: () => void;
}

function EventPanel({ event: id, onClose }: EventPanelProps) {
  const { t } = useLocale('webhooks');
  const { api } = useDashboard();
  const scope = useScope();
  const found = useQuery(eventQuery(api, scope, id));
  return (
    <LogPanel title={t('event')} found={found} onClose={onClose}>
      {({ type, meaning, payment, created_at: at, request_id: request, body }) => (
        <>
          <p>
            <strong>{type}</strong>
            <br />
            {meaning}
          </p>
          <Facts>
            <Fact name="ID">
              <Short text={id} what="ID" />
            </Fact>
            <Fact name={t('created')}>
              <Moment iso={at} />
            </Fact>
            <PaymentFact payment={payment} />
            {request === null ? null : (
              <Fact name={t('event_caused_by')}>
                <code>{request}</code>
              </Fact>
            )}
          </Facts>
          {payment === null ? null : (
            <div className={logCss.buttons}>
              <Link to="/projects/$project/$mode/webhooks" params={scope} search={{ payment }}>
                {t('deliveries')}
              </Link>
            </div>
          )}
          <CodeBlock title={t('body')} text={body} what={t('copied_body')} />
        </>
      )}
    </LogPanel>
  );
}
