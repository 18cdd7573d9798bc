import { useQuery } from '@tanstack/react-query';
import { MEANINGS } from '../webhooks/meanings.ts';
import { Link } from '@tanstack/react-router';
import type { EventRowView } from '../../../../src/http/dashboard/event-log/contract.ts';
import { reads } from '../../api.ts';
import { useLocale } from '../../locale.tsx';
import {
  beginOf,
  PERIOD_NAMES,
  present,
  readSearch,
  textUpTo,
  usePageSearch,
  type Given,
  type SearchOf,
} from '../../search.ts';
import { Page } from '../../shell/page.tsx';
import { Ago, Facts, Moment, Short } from '../../ui/value.tsx';
import { asOptions, LogFilters, usePeriodRow } from '../log/log-filters.tsx';
import { CodeBlock, LogPanel, PaymentLink } from '../log/log-panel.tsx';
import { EventPayment } from '../log/event-payment.tsx';
import { LogView, type LogColumn } from '../log/log-view.tsx';
import logCss from '../log/log.module.css';
import { useLog } from '../log/use-log.ts';
import { None } from '../payments/payment-table.tsx';
import { projectKey } from '../payments/queries.ts';
import { endpointsQuery } from '../webhooks/queries.ts';
import { aType } from '../webhooks/search.ts';
import { useScope, type Scope } from '../../scope.ts';

const LIST = 'GET /dashboard/api/projects/:project/:mode/event-log';
/** The stream does not report events without an endpoint, so the log is polled too. */
const EVERY_MS = 10_000;

/** The log's filters and the chosen event in the URL. */
const RULES = { type: aType, period: PERIOD_NAMES, payment: textUpTo(64), show: /^evt_[0-9a-z]{26}$/ } as const;
export type EventsSearch = SearchOf<typeof RULES>;

function eventsSearch(given: Given): EventsSearch {
  return readSearch(RULES, given);
}

/** The log of all events of a project and mode, with the bytes that are sent. */
export function EventsPage() {
  const { t } = useLocale('webhooks');
  const { search, isNarrowed, onChange, onClear, onShow } = usePageSearch(eventsSearch);
  const { type, period, payment, show } = search;
  const types = useQuery(endpointsQuery(useScope())).data?.events.map((one) => one.type);
  return (
    <Page title={t('events')} hasTimes>
      <LogFilters
        search={search}
        isNarrowed={isNarrowed}
        rows={[
          ['type', t('event'), t('deliveries_any_type'), asOptions(types)],
          usePeriodRow(),
          ['payment', t('payment_id')],
        ]}
        onChange={onChange}
        onClear={onClear}
      />
      <LogView
        {...useLog({
          route: LIST,
          filters: present({ type, created_after: beginOf(period), payment }),
          everyMs: EVERY_MS,
        })}
        label={t('events')}
        columns={useColumns()}
        empty={{ icon: 'list', title: t('events_none_title'), text: t('events_none_text') }}
        noMatch={isNarrowed ? t('events_no_match') : null}
        shown={show}
        onShow={onShow}
        panel={(id, onClose) => <EventPanel key={id} event={id} onClose={onClose} />}
      />
    </Page>
  );
}

function useColumns(): readonly LogColumn<EventRowView>[] {
  const { t, number } = useLocale('webhooks');
  return [
    { key: 'type', title: t('event'), cell: ({ type }) => type },
    { key: 'payment', title: t('payment'), from: 'medium', cell: (row) => <EventPayment {...row} /> },
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

function eventQuery(scope: Scope, event: string) {
  const query = reads([...projectKey(scope), 'event'], `${LIST}/:event`, { params: { ...scope, event } });
  // An event never changes.
  return { ...query, staleTime: Infinity };
}

function EventPanel({ event: id, onClose }: { readonly event: string; readonly onClose: () => void }) {
  const { t } = useLocale('webhooks');
  const scope = useScope();
  const found = useQuery(eventQuery(scope, id));
  return (
    <LogPanel title={t('event')} found={found} onClose={onClose}>
      {({ type, payment, payment_name: name, created_at: at, request_id: request, body }) => (
        <>
          <p>
            <strong>{type}</strong>
            <br />
            {t(MEANINGS[type])}
          </p>
          <Facts
            facts={[
              ['ID', <Short text={id} what="ID" />],
              [t('created'), <Moment iso={at} />],
              [t('payment'), payment === null ? null : <PaymentLink payment={payment} name={name} />],
              [t('event_caused_by'), request === null ? null : <code>{request}</code>],
            ]}
          />
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
