import { useInfiniteQuery, infiniteQueryOptions } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope, type Scope } from '../../scope.ts';
import { Page } from '../../shell/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Failed } from '../keys/failed.tsx';
import { ListFoot } from '../payments/list-foot.tsx';
import { AuditEntry } from './audit-entry.tsx';
import { AuditFilterBar } from './audit-filters.tsx';
import { auditSearch, isNarrowed, type AuditSearch, filtersOf } from './search.ts';
import type { Api } from '../../api.ts';
import { FileDialog } from '../log/file-dialog.tsx';

/** A change of the search; undefined removes a value. */
type Change = { readonly [Key in keyof AuditSearch]?: AuditSearch[Key] | undefined };

/** Who changed what, in the project or in all of them. */
export function AuditPage() {
  const { t } = useLocale('audit');
  const { api } = useDashboard();
  const scope = useScope();
  // The route hands on the URL's words as they are: reading them comes with this page.
  const search = auditSearch({ ...useSearch({ from: '/signed-in/projects/$project/$mode/audit' }) });
  const navigate = useNavigate({ from: '/projects/$project/$mode/audit' });
  const set = (change: Change): void =>
    void navigate({ search: auditSearch({ ...search, ...change }), replace: true, resetScroll: false });
  const log = useInfiniteQuery(auditQuery(api, scope, search));
  const [isExporting, exportIt] = useState(false);
  const [first] = log.data?.pages ?? [];
  return (
    <Page title={t('audit')} hasTimes actions={<Button onClick={() => exportIt(true)}>{t('export_audit')}</Button>}>
      <AuditFilterBar search={search} people={first?.people ?? []} onChange={set} />
      <Card flush>
        {log.data === undefined ? (
          <Failed query={log} rows={8} />
        ) : first?.data.length === 0 ? (
          <Nothing isNarrowed={isNarrowed(search)} onClear={() => void navigate({ search: {}, replace: true })} />
        ) : (
          <>
            <ul aria-label={t('audit')}>
              {log.data.pages
                .flatMap(({ data }) => data)
                .map((entry) => (
                  <AuditEntry
                    key={entry.id}
                    entry={entry}
                    hasProject={search.of === 'all'}
                    onWho={(who) => set({ who })}
                  />
                ))}
            </ul>
            <ListFoot list={log} more={t('audit_more')} end={t('audit_end')} />
          </>
        )}
      </Card>
      {isExporting ? <AuditExportDialog search={search} onClose={() => exportIt(false)} /> : null}
    </Page>
  );
}

function Nothing({ isNarrowed: isFiltered, onClear }: { readonly isNarrowed: boolean; readonly onClear: () => void }) {
  const { t } = useLocale('audit');
  if (!isFiltered) return <Empty icon="shield" title={t('audit_none_title')} text={t('audit_none_text')} />;
  return (
    <Empty icon="filter" title={t('audit_no_match')}>
      <Button onClick={onClear}>{t('audit_clear')}</Button>
    </Empty>
  );
}

/** The log, page by page, newest first. */
function auditQuery(api: Api, { project }: Pick<Scope, 'project'>, search: AuditSearch) {
  return infiniteQueryOptions({
    queryKey: ['audit', project, search],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...filtersOf(search), ...(pageParam !== null && { after: pageParam }) };
      return search.of === 'all'
        ? api('GET /dashboard/api/audit', { query }, signal)
        : api('GET /dashboard/api/projects/:project/audit', { params: { project }, query }, signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    refetchOnMount: 'always',
  });
}

/** Downloads all entries that the filters mean. */
function AuditExportDialog({ search, onClose }: { readonly search: AuditSearch; readonly onClose: () => void }) {
  const { t } = useLocale('audit');
  const { project } = useScope();
  return (
    <FileDialog
      path={search.of === 'all' ? '/dashboard/api/audit/export' : '/dashboard/api/projects/:project/audit/export'}
      params={{ project }}
      filters={filtersOf(search)}
      name={t('export_audit')}
      text={t('audit_export_text')}
      formatLabel={t('audit_format')}
      formats={{ csv: t('audit_export_csv'), semicolon: t('audit_export_semicolon'), jsonl: t('audit_export_jsonl') }}
      onClose={onClose}
    />
  );
}
