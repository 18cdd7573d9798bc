import { useInfiniteQuery, infiniteQueryOptions } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope, type Scope } from '../../scope.ts';
import { Page } from '../../shell/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty, NotLoaded } from '../../ui/placeholder.tsx';
import { ListFoot } from '../payments/list-foot.tsx';
import { AuditEntry } from './audit-entry.tsx';
import { auditSearch, isNarrowed, type AuditSearch, filtersOf, GROUPS, KINDS } from './search.ts';
import type { Api } from '../../api.ts';
import { FileDialog } from '../log/file-dialog.tsx';
import { useSignedIn } from '../../session.ts';
import { DayInput, Select } from '../../ui/field.tsx';
import css from './audit.module.css';

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
          <NotLoaded query={log} rows={8} />
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

interface AuditFilterBarProps {
  readonly search: AuditSearch;
  readonly people: readonly { readonly id: string; readonly email: string }[];
  readonly onChange: (change: { readonly [Key in keyof AuditSearch]?: AuditSearch[Key] | undefined }) => void;
}

/** Who, what, when and of which project. */
function AuditFilterBar({ search, people, onChange }: AuditFilterBarProps) {
  const { t } = useLocale('audit');
  const { project } = useScope();
  const { person, projects } = useSignedIn();
  const { who = '', what = '', from = '', to = '' } = search;
  const known = [...KINDS, ...people.map(({ id }) => id)];
  return (
    <div className={css.filters}>
      {person.actions.includes('read_service_audit') ? (
        <Select
          label={t('audit_project')}
          value={search.of ?? ''}
          options={[
            ['', projects.find(({ id }) => id === project)?.name ?? project],
            ['all', t('audit_all_projects')],
          ]}
          onValue={(of) => onChange({ of })}
        />
      ) : null}
      <Select
        label={t('audit_who')}
        value={who}
        options={[
          ['', t('audit_anybody')],
          ...KINDS.map((kind) => [kind, t(`actor_${kind}`)] as const),
          ...people.map(({ id, email }) => [id, email] as const),
          ...(who === '' || known.includes(who) ? [] : [[who, who] as const]),
        ]}
        onValue={(value) => onChange({ who: value })}
      />
      <Select
        label={t('audit_what')}
        value={what}
        options={[['', t('audit_anything')], ...GROUPS.map((group) => [group, t(`group_${group}`)] as const)]}
        onValue={(value) => onChange({ what: value })}
      />
      <label>
        <span>{t('audit_from')}</span>
        <DayInput value={from} {...(to !== '' && { max: to })} onDay={(day) => onChange({ from: day })} />
      </label>
      <label>
        <span>{t('audit_to')}</span>
        <DayInput value={to} {...(from !== '' && { min: from })} onDay={(day) => onChange({ to: day })} />
      </label>
    </div>
  );
}
