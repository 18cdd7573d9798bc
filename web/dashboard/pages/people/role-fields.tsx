import type { Role } from '../../../../src/domain/role.ts';
import { useLocale } from '../../locale.tsx';
import { useSignedIn } from '../../session.ts';
import { Choices } from '../../ui/choices.tsx';
import { SelectField } from '../../ui/select-field.tsx';
import css from '../keys/keys.module.css';

const ROLES = ['owner', 'admin', 'developer', 'support', 'viewer'] as const satisfies readonly Role[];

interface WhereFieldProps {
  /** Empty: all projects. */
  readonly value: string;
  readonly onValue: (project: string) => void;
}

/** Where a role holds. */
export function WhereField({ value, onValue }: WhereFieldProps) {
  const { t } = useLocale('people');
  const { projects } = useSignedIn();
  return (
    <div>
      <SelectField
        label={t('role_where')}
        value={value}
        options={[['', t('all_projects')], ...projects.map(({ id, name }) => [id, name] as const)]}
        onValue={onValue}
      />
      {value === '' ? <small className={css.soft}>{t('all_projects_text')}</small> : null}
    </div>
  );
}

interface RoleFieldProps<Value extends Role | 'none'> {
  readonly value: Value;
  /** What having no role means there; left out where a role must be given. */
  readonly none?: string;
  readonly onValue: (role: Value | Role) => void;
}

/** The role, with what each may do. */
export function RoleField<Value extends Role | 'none'>({ value, none, onValue }: RoleFieldProps<Value>) {
  const { t } = useLocale('people');
  const roles = ROLES.map((role) => ({ value: role, text: t(`role_${role}`), detail: t(`role_${role}_text`) }));
  return (
    <Choices<Role | 'none'>
      label={t('role')}
      value={value}
      options={none === undefined ? roles : [...roles, { value: 'none', text: none }]}
      onValue={(role) => onValue(role as Value | Role)}
    />
  );
}
