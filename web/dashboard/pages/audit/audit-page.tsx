import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { personText } from '../../ui/value.tsx';
import type { AuditFilters } from '../../../../src/http/dashboard/audit/contract.ts';
import { readsPages } from '../../api.ts';
import { startOfDay } from '../../formats.ts';
import { useLocale } from '../../locale.tsx';
import {
  aDay,
  present,
  readSearch,
  usePageSearch,
  type Given,
  type SearchChange,
  type SearchOf,
} from '../../search.ts';
import { useSignedIn } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { DayInput, Select } from '../../ui/field.tsx';
import { Empty, Loaded } from '../../ui/placeholder.tsx';
import { FileDialog } from '../log/file-dialog.tsx';
import { withAny } from '../log/log-filters.tsx';
import { ListFoot } from '../payments/list-foot.tsx';
import { AuditEntry } from './audit-entry.tsx';
import css from './audit.module.css';
import { useScope } from '../../scope.ts';

const GROUPS = [
  'key',
  'webhook',
  'wallet',
  'refund',
  'report',
  'payment',
  'person',
  'session',
  'sweep',
  'project',
  'attention',
  'view',
  'audit',
] as const satisfies readonly NonNullable<AuditFilters['what']>[];

const KINDS = ['person', 'command', 'key', 'service'] as const;

/** The log's filters in the URL. */
const RULES = {
  /** A kind of actors, or a person's or key's id. */
  who: /^[\w-]{1,64}$/,
  what: GROUPS,
  /** Days in the person's time zone, both inclusive. */
  from: aDay,
  to: aDay,
  /** `all`: entries of all projects. */
  of: ['all'],
} as const;
export type AuditSearch = SearchOf<typeof RULES>;

function auditSearch(given: Given): AuditSearch {
  return readSearch(RULES, given);
}

/** The filters in the server's terms. */
function filtersOf({ who, what, from, to }: AuditSearch): AuditFilters {
  const start = from === undefined ? null : startOfDay(from);
  const end = to === undefined ? null : startOfDay(to, 1);
  return present({ who, what, from: start?.toISOString(), before: end?.toISOString() });
}

/** Who changed what, in the project or in all projects. */
export function AuditPage() {
  const { t } = useLocale('audit');
  const { project } = useScope();
  const { search, onChange, onClear } = usePageSearch(auditSearch);
  const filters = filtersOf(search);
  const log = useInfiniteQuery({ ...auditQuery(project, search.of === 'all', filters), refetchOnMount: 'always' });
  const [isExporting, exportIt] = useState(false);
  return (
    <Page title={t('audit')} hasTimes actions={<Button onClick={() => exportIt(true)}>{t('export_audit')}</Button>}>
      <AuditFilterBar search={search} people={log.data?.pages[0]?.people ?? []} onChange={onChange} />
      <Card flush>
        <Loaded query={log} rows={8}>
          {({ pages }) =>
            pages[0]?.data.length === 0 ? (
              <Nothing isNarrowed={Object.keys(filters).length > 0} onClear={onClear} />
            ) : (
              <>
                <ul aria-label={t('audit')}>
                  {pages
                    .flatMap(({ data }) => data)
                    .map((entry) => (
                      <AuditEntry
                        key={entry.id}
                        entry={entry}
                        hasProject={search.of === 'all'}
                        onWho={(who) => onChange({ who })}
                      />
                    ))}
                </ul>
                <ListFoot list={log} more={t('audit_more')} end={t('audit_end')} />
              </>
            )
          }
        </Loaded>
      </Card>
      {isExporting ? (
        <FileDialog
          path={search.of === 'all' ? '/dashboard/api/audit/export' : '/dashboard/api/projects/:project/audit/export'}
          params={{ project }}
          filters={filters}
          name={t('export_audit')}
          text={t('audit_export_text')}
          formatLabel={t('audit_format')}
          formats={{
            csv: t('audit_export_csv'),
            semicolon: t('audit_export_semicolon'),
            jsonl: t('audit_export_jsonl'),
          }}
          onClose={() => exportIt(false)}
        />
      ) : null}
    </Page>
  );
}

function Nothing({ isNarrowed, onClear }: { readonly isNarrowed: boolean; readonly onClear: () => void }) {
  const { t } = useLocale('audit');
  if (!isNarrowed) return <Empty icon="shield" title={t('audit_none_title')} text={t('audit_none_text')} />;
  return (
    <Empty icon="filter" title={t('audit_no_match')}>
      <Button onClick={onClear}>{t('audit_clear')}</Button>
    </Empty>
  );
}

/** The log, page by page, newest first. */
function auditQuery(project: string, isOfAll: boolean, query: AuditFilters) {
  return isOfAll
    ? readsPages(['audit'], 'GET /dashboard/api/audit', { query })
    : readsPages(['audit'], 'GET /dashboard/api/projects/:project/audit', { params: { project }, query });
}

interface AuditFilterBarProps {
  readonly search: AuditSearch;
  readonly people: readonly { readonly id: string; readonly email: string; readonly name: string | null }[];
  readonly onChange: (change: SearchChange) => void;
}

/** Who, what, when and of which project. */
function AuditFilterBar({ search, people, onChange }: AuditFilterBarProps) {
  const { t } = useLocale('audit');
  const { project } = useScope();
  const { person, projects } = useSignedIn();
  const { who = '', what = '', from = '', to = '', of = '' } = search;
  const kinds = KINDS.map((kind) => [kind, t(`actor_${kind}`)] as const);
  return (
    <div className={css.filters}>
      {person.actions.includes('read_service_audit') ? (
        <Select
          label={t('audit_project')}
          value={of}
          options={[
            ['', projects.find(({ id }) => id === project)?.name ?? project],
            ['all', t('audit_all_projects')],
          ]}
          onValue={(value) => onChange({ of: value })}
        />
      ) : null}
      <Select
        label={t('audit_who')}
        value={who}
        options={withAny(
          t('audit_anybody'),
          [...kinds, ...people.map((one) => [one.id, personText(one)] as const)],
          who,
        )}
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
