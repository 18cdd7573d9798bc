import type { RequestView } from '../../../../src/http/dashboard/requests/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Page } from '../../shell/page.tsx';
import { Ago, Short, Moment } from '../../ui/value.tsx';
import { classNames } from '../../ui/class-names.ts';
import statusCss from '../../ui/value.module.css';
import type { LogColumn } from '../log/log-table.tsx';
import { LogView } from '../log/log-view.tsx';
import logCss from '../log/log.module.css';
import { useLogSearch, type LogChange, useLog, logQueries } from '../log/use-log.ts';
import {
  filtersOf,
  requestsSearch,
  METHODS,
  OUTCOMES,
  REQUEST_PERIODS,
  type RequestsSearch,
  type RequestFilters,
} from './search.ts';
import { LinkButton } from '../../ui/button.tsx';
import { SearchField } from '../../ui/field.tsx';
import { asOptions, FilterSelects, PeriodSelect } from '../log/filter-select.tsx';
import filters from '../payments/payments-page.module.css';
import { useQuery, queryOptions } from '@tanstack/react-query';
import { useDashboard } from '../../dashboard.ts';
import { useScope, type Scope } from '../../scope.ts';
import { Notice } from '../../ui/notice.tsx';
import { Fact, Facts, LogPanel } from '../log/log-panel.tsx';
import type { Api } from '../../api.ts';
import { projectKey } from '../payments/queries.ts';

interface RequestFilterRowProps {
  readonly search: RequestsSearch;
  readonly isNarrowed: boolean;
  readonly keys: readonly { readonly id: string; readonly name: string }[];
  readonly onChange: (change: LogChange) => void;
}

const NO_FILTERS = {
  outcome: undefined,
  method: undefined,
  status: undefined,
  path: undefined,
  key: undefined,
  request: undefined,
  period: undefined,
} as const satisfies LogChange;

/** The filters of the requests, which are in the URL. */
function RequestFilterRow({ search, isNarrowed, keys, onChange }: RequestFilterRowProps) {
  const { t } = useLocale('requests');
  const { path, request, period } = search;
  return (
    <div className={filters.filters} role="search">
      <SearchField label={t('request_path')} text={path ?? ''} onText={(text) => onChange({ path: text })} />
      <SearchField label={t('request_id')} text={request ?? ''} onText={(text) => onChange({ request: text })} />
      <FilterSelects
        search={search}
        onChange={onChange}
        rows={[
          ['method', t('request_method'), t('request_any_method'), asOptions(METHODS)],
          [
            'outcome',
            t('request_outcome'),
            t('request_any_outcome'),
            OUTCOMES.map((one) => [one, t(`request_outcome_${one}`)] as const),
          ],
          ['status', t('request_status'), t('request_any_status'), asOptions(STATUSES)],
          ['key', t('request_key'), t('request_any_key'), keys.map(({ id, name }) => [id, name] as const)],
        ]}
      />
      <PeriodSelect period={period} offered={REQUEST_PERIODS} onPeriod={(value) => onChange({ period: value })} />
      {isNarrowed ? <LinkButton onClick={() => onChange(NO_FILTERS)}>{t('clear_filters')}</LinkButton> : null}
    </div>
  );
}

/** The status codes that the APIs answer with. */
const STATUSES = ['200', '400', '401', '403', '404', '409', '429', '500', '503'] as const;

/** The calls of the APIs with the keys of a project, in a mode. */
export function RequestsPage() {
  const { t } = useLocale('requests');
  const { search, onChange, onShow } = useLogSearch(requestsSearch);
  const filters = filtersOf(search);
  const log = useLog((api, scope) => requestLog(api, scope, filters));
  const isNarrowed = Object.keys(filters).length > 0;
  const keys = log.list.data?.pages[0]?.keys ?? [];
  return (
    <Page title={t('requests')} hasTimes>
      <p className={logCss.intro}>{t('request_kept_text')}</p>
      <RequestFilterRow search={search} isNarrowed={isNarrowed} keys={keys} onChange={onChange} />
      <LogView
        {...log}
        label={t('requests')}
        columns={useColumns()}
        shown={search.show}
        onShow={onShow}
        panel={(id, onClose) => <RequestPanel key={id} request={id} onClose={onClose} />}
        empty={{ icon: 'terminal', title: t('request_none_title'), text: t('request_none_text') }}
        noMatch={isNarrowed ? t('request_no_match') : null}
      />
    </Page>
  );
}

function useColumns(): readonly LogColumn<RequestView>[] {
  const { t, number } = useLocale('requests');
  return [
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
  ];
}

/** The status code of an answer, which a colour supports. */
function RequestStatus({ code }: { readonly code: number }) {
  return <span className={classNames(statusCss.status, code < 400 ? statusCss.good : statusCss.bad)}>{code}</span>;
}

interface RequestPanelProps {
  readonly request: string;
  readonly onClose: () => void;
}

/** One call, and why it was refused. */
function RequestPanel({ request: id, onClose }: RequestPanelProps) {
  const { t, number } = useLocale('requests');
  const { api } = useDashboard();
  const found = useQuery(requestQuery(api, useScope(), id));
  return (
    <LogPanel title={t('request_heading')} found={found} onClose={onClose}>
      {(request) => (
        <>
          <p>
            <strong>
              {request.method} {request.path}
            </strong>
          </p>
          <Why request={request} />
          <Facts>
            <Fact name={t('request_status')}>{request.status}</Fact>
            <Fact name={t('request_time')}>
              <Moment iso={request.at} />
            </Fact>
            <Fact name={t('request_duration')}>{t('request_duration_ms', { ms: number(request.duration_ms) })}</Fact>
            <Fact name={t('request_key')}>{request.key.name ?? request.key.id}</Fact>
            <Fact name={t('request_client')}>
              {request.client ?? <span className={logCss.soft}>{t('request_client_hidden')}</span>}
            </Fact>
            {request.user_agent === null ? null : <Fact name={t('request_program')}>{request.user_agent}</Fact>}
            <Fact name={t('request_id')}>
              <Short text={request.request_id} what={t('request_id')} />
            </Fact>
          </Facts>
        </>
      )}
    </LogPanel>
  );
}

function Why({ request: { error, status } }: { readonly request: RequestView }) {
  const { t } = useLocale('requests');
  if (error === null) return null;
  return (
    <Notice kind="warning">
      <strong>{t(status >= 500 ? 'request_why_failed' : 'request_why')}</strong>
      <p>{error.message}</p>
      <p>
        <code>{error.type}</code>
        {error.param === null ? null : ` · ${t('request_field')}: ${error.param}`}
      </p>
    </Notice>
  );
}

const LIST = 'GET /dashboard/api/projects/:project/:mode/requests';

const EVERY_MS = 5_000;

/** The calls of the APIs. No stream reports them: they are saved in batches. */
function requestLog(api: Api, scope: Scope, filters: RequestFilters) {
  return logQueries(scope, 'requests', filters, {
    read: (after, signal) => api(LIST, { params: { ...scope }, query: { ...filters, ...after } }, signal),
    everyMs: EVERY_MS,
  });
}

function requestQuery(api: Api, scope: Scope, request: string) {
  return queryOptions({
    queryKey: [...projectKey(scope), 'request', request],
    queryFn: ({ signal }) => api(`${LIST}/:request`, { params: { ...scope, request } }, signal),
    // A request never changes.
    staleTime: Infinity,
  });
}
