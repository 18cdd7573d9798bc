import type { RequestView } from '../../../../src/http/dashboard/contract/requests.ts';
import { useLocale } from '../../locale.tsx';
import { Page } from '../../shell/page.tsx';
import { Ago } from '../../ui/moment.tsx';
import { classNames } from '../../ui/class-names.ts';
import statusCss from '../../ui/status.module.css';
import type { LogColumn } from '../log/log-table.tsx';
import { LogView } from '../log/log-view.tsx';
import css from '../log/log.module.css';
import { useLogSearch } from '../log/use-log-search.ts';
import { useLog } from '../log/use-log.ts';
import { requestLog } from './queries.ts';
import { RequestFilterRow } from './request-filters.tsx';
import { RequestPanel } from './request-panel.tsx';
import { filtersOf, requestsSearch } from './search.ts';

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
      <p className={css.intro}>{t('request_kept_text')}</p>
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
