import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { RequestView } from '../../../../src/http/dashboard/contract/requests.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { Page } from '../../shell/page.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Ago } from '../../ui/moment.tsx';
import { classNames } from '../../ui/class-names.ts';
import status from '../../ui/status.module.css';
import { LogList } from '../log/log-list.tsx';
import { LogSplit } from '../log/log-split.tsx';
import { LogTable } from '../log/log-table.tsx';
import log from '../log/log.module.css';
import { newestRequestsQuery, requestsQuery } from './queries.ts';
import { RequestFilterRow } from './request-filters.tsx';
import { RequestPanel } from './request-panel.tsx';
import { filtersOf, requestsSearch, type RequestsChange } from './search.ts';

/** The calls of the APIs with the keys of a project, in a mode. */
export function RequestsPage() {
  const { t } = useLocale('requests');
  const search = requestsSearch(useSearch({ from: '/signed-in/projects/$project/$mode/requests' }));
  const navigate = useNavigate({ from: '/projects/$project/$mode/requests' });
  const set = (change: RequestsChange, replace = false): void =>
    void navigate({ search: (before) => requestsSearch({ ...before, ...change }), replace, resetScroll: false });
  const { api } = useDashboard();
  const scope = useScope();
  const filters = filtersOf(search);
  const list = useInfiniteQuery(requestsQuery(api, scope, filters));
  const newest = useQuery({ ...newestRequestsQuery(api, scope, filters), enabled: list.data !== undefined });
  const { show } = search;
  const isNarrowed = Object.keys(filters).length > 0;
  return (
    <Page title={t('requests')} hasTimes>
      <p className={log.intro}>{t('request_kept_text')}</p>
      <RequestFilterRow
        search={search}
        isNarrowed={isNarrowed}
        keys={list.data?.pages[0]?.keys ?? []}
        onChange={(change) => set(change, true)}
      />
      <LogSplit
        panel={
          show === undefined ? null : (
            <RequestPanel key={show} request={show} onClose={() => set({ show: undefined })} />
          )
        }
      >
        <LogList
          list={list}
          newest={newest}
          empty={
            isNarrowed ? (
              <Empty icon="filter" title={t('no_matches_title')} text={t('request_no_match')} />
            ) : (
              <Empty icon="terminal" title={t('request_none_title')} text={t('request_none_text')} />
            )
          }
        >
          {(rows) => <RequestTable rows={rows} shown={show} onShow={(id) => set({ show: id }, show !== undefined)} />}
        </LogList>
      </LogSplit>
    </Page>
  );
}

interface RequestTableProps {
  readonly rows: readonly RequestView[];
  readonly shown: string | undefined;
  readonly onShow: (id: string) => void;
}

function RequestTable({ rows, shown, onShow }: RequestTableProps) {
  const { t, number } = useLocale('requests');
  return (
    <LogTable
      label={t('requests')}
      rows={rows}
      shown={shown}
      onShow={onShow}
      columns={[
        { key: 'call', title: t('request_call'), cell: ({ method, path }) => `${method} ${path}` },
        { key: 'status', title: t('request_status'), cell: (row) => <RequestStatus code={row.status} /> },
        { key: 'key', title: t('request_key'), from: 'medium', cell: ({ key }) => key.name ?? key.id },
        {
          key: 'duration',
          title: t('request_duration'),
          from: 'wide',
          isNumber: true,
          cell: (row) => t('request_duration_ms', { ms: number(row.duration_ms) }),
        },
        { key: 'time', title: t('request_time'), isNumber: true, cell: ({ at }) => <Ago iso={at} /> },
      ]}
    />
  );
}

/** The status code of an answer, which a colour supports. */
export function RequestStatus({ code }: { readonly code: number }) {
  return <span className={classNames(status.status, code < 400 ? status.good : status.bad)}>{code}</span>;
}
