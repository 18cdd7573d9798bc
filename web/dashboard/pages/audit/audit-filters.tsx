import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { useSignedIn } from '../../session.ts';
import { DayInput } from '../../ui/day-input.tsx';
import { Select } from '../../ui/field.tsx';
import css from './audit.module.css';
import { GROUPS, KINDS, type AuditSearch } from './search.ts';

interface AuditFilterBarProps {
  readonly search: AuditSearch;
  readonly people: readonly { readonly id: string; readonly email: string }[];
  readonly onChange: (change: { readonly [Key in keyof AuditSearch]?: AuditSearch[Key] | undefined }) => void;
}

/** Who, what, when and of which project. */
export function AuditFilterBar({ search, people, onChange }: AuditFilterBarProps) {
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
