import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { useSignedIn } from '../../session.ts';
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
      <Day
        label={t('audit_from')}
        value={from}
        {...(to !== '' && { max: to })}
        onDay={(day) => onChange({ from: day })}
      />
      <Day
        label={t('audit_to')}
        value={to}
        {...(from !== '' && { min: from })}
        onDay={(day) => onChange({ to: day })}
      />
    </div>
  );
}

interface DayProps {
  readonly label: string;
  readonly value: string;
  readonly min?: string;
  readonly max?: string;
  readonly onDay: (day: string) => void;
}

function Day({ label, onDay, ...rest }: DayProps) {
  return (
    <label>
      <span>{label}</span>
      <input {...rest} type="date" onChange={({ currentTarget }) => onDay(currentTarget.value)} />
    </label>
  );
}
