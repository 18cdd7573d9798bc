import { useQuery } from '@tanstack/react-query';
import type { RequestView } from '../../../../src/http/dashboard/requests/contract.ts';
import { reads } from '../../api.ts';
import { useLocale } from '../../locale.tsx';
import { usePageSearch } from '../../search.ts';
import { Page } from '../../shell/page.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Ago, Badge, Facts, Moment, Short } from '../../ui/value.tsx';
import { asOptions, LogFilters, usePeriodRow } from '../log/log-filters.tsx';
import { LogPanel } from '../log/log-panel.tsx';
import { LogView, type LogColumn } from '../log/log-view.tsx';
import logCss from '../log/log.module.css';
import { useLog } from '../log/use-log.ts';
import { projectKey } from '../payments/queries.ts';
import { filtersOf, METHODS, OUTCOMES, REQUEST_PERIODS, requestsSearch } from './search.ts';
import { useScope, type Scope } from '../../scope.ts';

const LIST = 'GET /dashboard/api/projects/:project/:mode/requests';
/** No stream reports calls: they are saved in batches. */
const EVERY_MS = 5_000;
/** The status codes that the APIs answer with. */
const STATUSES = ['200', '400', '401', '403', '404', '409', '429', '500', '503'] as const;

/** The calls of the APIs with the keys of a project, in a mode. */
export function RequestsPage() {
  const { t } = useLocale('requests');
  const { search, isNarrowed, onChange, onClear, onShow } = usePageSearch(requestsSearch);
  const log = useLog({ route: LIST, filters: filtersOf(search), everyMs: EVERY_MS });
  const keys = log.list.data?.pages[0]?.keys ?? [];
  return (
    <Page title={t('requests')} hasTimes>
      <p className={logCss.intro}>{t('request_kept_text')}</p>
      <LogFilters
        search={search}
        isNarrowed={isNarrowed}
        rows={[
          ['path', t('request_path')],
          ['request', t('request_id')],
          ['method', t('request_method'), t('request_any_method'), asOptions(METHODS)],
          [
            'outcome',
            t('request_outcome'),
            t('request_any_outcome'),
            OUTCOMES.map((one) => [one, t(`request_outcome_${one}`)]),
          ],
          ['status', t('request_status'), t('request_any_status'), asOptions(STATUSES)],
          ['key', t('request_key'), t('request_any_key'), keys.map(({ id, name }) => [id, name])],
          usePeriodRow(REQUEST_PERIODS),
        ]}
        onChange={onChange}
        onClear={onClear}
      />
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
    {
      key: 'call',
      title: t('request_call'),
      cell: ({ method, path }) => <span className={logCss.path}>{`${method} ${path}`}</span>,
    },
    {
      key: 'status',
      title: t('request_status'),
      cell: ({ status }) => <Badge tone={status < 400 ? 'good' : 'bad'}>{status}</Badge>,
    },
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

function requestQuery(scope: Scope, request: string) {
  const query = reads([...projectKey(scope), 'request'], `${LIST}/:request`, { params: { ...scope, request } });
  // A request never changes.
  return { ...query, staleTime: Infinity };
}

/** One call, and why it was refused. */
function RequestPanel({ request: id, onClose }: { readonly request: string; readonly onClose: () => void }) {
  const { t, number } = useLocale('requests');
  const found = useQuery(requestQuery(useScope(), id));
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
          <Facts
            facts={[
              [t('request_status'), request.status],
              [t('request_time'), <Moment iso={request.at} />],
              [t('request_duration'), t('request_duration_ms', { ms: number(request.duration_ms) })],
              [t('request_key'), request.key.name ?? request.key.id],
              [
                t('request_client'),
                request.client ?? <span className={logCss.soft}>{t('request_client_hidden')}</span>,
              ],
              [t('request_program'), request.user_agent],
              [t('request_id'), <Short text={request.request_id} what={t('request_id')} />],
            ]}
          />
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
