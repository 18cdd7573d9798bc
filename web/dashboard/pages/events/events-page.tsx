import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { EventRowView, GapRowView } from '../../../../src/http/dashboard/event-log/contract.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
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
import { Notice } from '../../ui/notice.tsx';
import { Ago } from '../../ui/value.tsx';
import { EventPayment } from '../log/event-payment.tsx';
import { asOptions, LogFilters, usePeriodRow } from '../log/log-filters.tsx';
import { LogView, type LogColumn } from '../log/log-view.tsx';
import logCss from '../log/log.module.css';
import { useLog } from '../log/use-log.ts';
import { None } from '../payments/payment-table.tsx';
import tableCss from '../payments/payment-table.module.css';
import { endpointsQuery } from '../webhooks/queries.ts';
import { aType } from '../webhooks/search.ts';
import { EventPanel } from './event-panel.tsx';

/** The stream does not report events without an endpoint, so the log is polled too. */
const EVERY_MS = 10_000;

/** The log's filters and the chosen event in the URL. */
const RULES = { type: aType, period: PERIOD_NAMES, payment: textUpTo(64), show: /^evt_[0-9a-z]{26}$/ } as const;
export type EventsSearch = SearchOf<typeof RULES>;

function eventsSearch(given: Given): EventsSearch {
  return readSearch(RULES, given);
}

/** The log of all events of a project and mode, newest position first, with the bytes that are sent. */
export function EventsPage() {
  const { t, number } = useLocale('webhooks');
  const { search, isNarrowed, onChange, onClear, onShow } = usePageSearch(eventsSearch);
  const { type, period, payment, show } = search;
  const types = useQuery(endpointsQuery(useScope())).data?.events.map((one) => one.type);
  const log = useLog({
    route: 'GET /dashboard/api/projects/:project/:mode/event-log',
    filters: present({ type, created_after: beginOf(period), payment }),
    everyMs: EVERY_MS,
  });
  const head = (log.newest.data ?? log.list.data?.pages[0])?.head ?? 0;
  return (
    <Page
      title={t('events')}
      beside={head === 0 ? null : <span className={logCss.soft}>{t('events_head', { position: number(head) })}</span>}
      hasTimes
    >
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
        label={t('events')}
        {...log}
        columns={useColumns()}
        panel={(id, onClose) => <EventPanel key={id} event={id} onClose={onClose} />}
        noteOf={(row) => ('gap' in row ? <Gap row={row} /> : null)}
        shown={show}
        onShow={onShow}
        empty={{ icon: 'list', title: t('events_none_title'), text: t('events_none_text') }}
        noMatch={isNarrowed ? t('events_no_match') : null}
      />
    </Page>
  );
}

function Gap({ row: { position, gap } }: { readonly row: GapRowView }) {
  const { t, number } = useLocale('webhooks');
  return (
    <Notice kind="warning">{t(`events_gap_${gap.reason}`, { from: number(gap.from), to: number(position) })}</Notice>
  );
}

type Cell = (event: EventRowView) => ReactNode;

function useColumns(): readonly LogColumn<EventRowView | GapRowView>[] {
  const { t, number } = useLocale('webhooks');
  const ofEvent = (cell: Cell) => (row: EventRowView | GapRowView) => ('gap' in row ? null : cell(row));
  return [
    {
      key: 'type',
      title: t('event'),
      cell: ofEvent(({ type, position }) => (
        <>
          {type}
          {position === null ? null : <small className={tableCss.phone}>#{number(position)}</small>}
        </>
      )),
    },
    {
      key: 'position',
      title: t('event_position'),
      from: 'small',
      isNumber: true,
      cell: ({ position }) => (position === null ? <None /> : `#${number(position)}`),
    },
    { key: 'payment', title: t('payment'), from: 'medium', cell: ofEvent((row) => <EventPayment {...row} />) },
    {
      key: 'arrived',
      title: t('event_deliveries'),
      cell: ofEvent(({ deliveries, delivered }) =>
        deliveries === 0 ? (
          <None />
        ) : (
          t('event_deliveries_of', { delivered: number(delivered), count: number(deliveries) })
        ),
      ),
    },
    { key: 'when', title: t('when'), isNumber: true, cell: ofEvent((row) => <Ago iso={row.created_at} />) },
  ];
}
