import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { EventRowView } from '../../../../src/http/dashboard/contract/event-log.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { Page } from '../../shell/page.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { Short } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Select } from '../../ui/field.tsx';
import { Ago, Moment } from '../../ui/moment.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { CodeBlock } from '../log/code-block.tsx';
import { LogList } from '../log/log-list.tsx';
import { LogPanel, LogSplit } from '../log/log-split.tsx';
import { LogTable } from '../log/log-table.tsx';
import log from '../log/log.module.css';
import { beginOf, isPeriod, type Period } from '../log/period.ts';
import { PeriodSelect, withChosen } from '../log/period-select.tsx';
import { None } from '../payments/payment-table.tsx';
import filters from '../payments/payments-page.module.css';
import { endpointsQuery } from '../webhooks/queries.ts';
import { isType } from '../webhooks/search.ts';
import { eventQuery, eventsQuery, newestEventsQuery, type EventFilters } from './queries.ts';

/** The filters of the log and the chosen event, as they stand in the URL. */
export interface EventsSearch {
  readonly type?: EventRowView['type'];
  readonly period?: Period;
  readonly payment?: string;
  readonly show?: string;
}
type Change = { readonly [Key in keyof EventsSearch]?: EventsSearch[Key] | undefined };

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
  const search = searchOf(useSearch({ from: '/signed-in/projects/$project/$mode/event-log' }));
  const navigate = useNavigate({ from: '/projects/$project/$mode/event-log' });
  const set = (change: Change, replace = false): void =>
    void navigate({ search: (before) => searchOf({ ...before, ...change }), replace, resetScroll: false });
  const { api } = useDashboard();
  const scope = useScope();
  const wanted = filtersOf(search);
  const list = useInfiniteQuery(eventsQuery(api, scope, wanted));
  const newest = useQuery({ ...newestEventsQuery(api, scope, wanted), enabled: list.data !== undefined });
  const { show } = search;
  const isNarrowed = Object.keys(wanted).length > 0;
  return (
    <Page title={t('events')} hasTimes>
      <EventFilterRow search={search} isNarrowed={isNarrowed} onChange={(change) => set(change, true)} />
      <LogSplit
        panel={
          show === undefined ? null : <EventPanel key={show} event={show} onClose={() => set({ show: undefined })} />
        }
      >
        <LogList
          list={list}
          newest={newest}
          empty={
            isNarrowed ? (
              <Empty icon="filter" title={t('no_matches_title')} text={t('events_no_match')} />
            ) : (
              <Empty icon="bolt" title={t('events_none_title')} text={t('events_none_text')} />
            )
          }
        >
          {(rows) => <EventTable rows={rows} shown={show} onShow={(id) => set({ show: id }, show !== undefined)} />}
        </LogList>
      </LogSplit>
    </Page>
  );
}

interface EventFilterRowProps {
  readonly search: EventsSearch;
  readonly isNarrowed: boolean;
  readonly onChange: (change: Change) => void;
}

function EventFilterRow({ search: { type, period, payment }, isNarrowed, onChange }: EventFilterRowProps) {
  const { t } = useLocale('webhooks');
  const { api } = useDashboard();
  const types = useQuery(endpointsQuery(api, useScope())).data?.events ?? [];
  return (
    <div className={filters.filters} role="search">
      <Select
        label={t('event')}
        value={type ?? ''}
        options={withChosen(
          t('deliveries_any_type'),
          types.map((one) => [one.type, one.type] as const),
          type,
        )}
        onValue={(value) => onChange({ type: isType(value) ? value : undefined })}
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

interface EventTableProps {
  readonly rows: readonly EventRowView[];
  readonly shown: string | undefined;
  readonly onShow: (id: string) => void;
}

function EventTable({ rows, shown, onShow }: EventTableProps) {
  const { t, number } = useLocale('webhooks');
  return (
    <LogTable
      label={t('events')}
      rows={rows}
      shown={shown}
      onShow={onShow}
      columns={[
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
      ]}
    />
  );
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
          <dl className={log.facts}>
            <dt>ID</dt>
            <dd>
              <Short text={id} what="ID" />
            </dd>
            <dt>{t('created')}</dt>
            <dd>
              <Moment iso={at} />
            </dd>
            {payment === null ? null : (
              <>
                <dt>{t('payment')}</dt>
                <dd>
                  <Link to="/projects/$project/$mode/payments/$payment" params={{ ...scope, payment }}>
                    {payment}
                  </Link>
                </dd>
              </>
            )}
            {request === null ? null : (
              <>
                <dt>{t('event_caused_by')}</dt>
                <dd>
                  <code>{request}</code>
                </dd>
              </>
            )}
          </dl>
          {payment === null ? null : (
            <div className={log.buttons}>
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
