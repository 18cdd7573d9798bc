import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Role } from '../../../../src/domain/role.ts';
import type { PersonView } from '../../../../src/http/dashboard/people/contract.ts';
import { useChange } from '../../change.ts';
import { sessionQuery, useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Checks } from '../../ui/choices.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PEOPLE_KEY, peopleQuery, ROLES } from './role-dialogs.tsx';

interface FactorRolesProps {
  readonly people: readonly PersonView[];
  /** The roles that require a second factor. */
  readonly roles: readonly Role[];
  readonly mayChange: boolean;
}

/** Whether a person who can sign in has no second factor although one of these roles requires it. */
export function lacksFactor(person: PersonView, roles: readonly Role[]): boolean {
  const { state, has_second_factor: hasFactor, memberships } = person;
  return state === 'active' && !hasFactor && memberships.some(({ role }) => roles.includes(role));
}

/** The roles that require a second factor. */
export function FactorRoles({ people, roles, mayChange }: FactorRolesProps) {
  const { t } = useLocale('people');
  const [isChanging, change] = useState(false);
  const names = roles.map((role) => t(`role_${role}`)).join(', ');
  return (
    <Card
      title={t('factor_required')}
      actions={mayChange ? <Button onClick={() => change(true)}>{t('factor_change')}</Button> : null}
    >
      <p>
        {roles.length === 0
          ? t('factor_none')
          : roles.length === ROLES.length
            ? t('factor_of_all')
            : t('factor_of', { roles: names })}
      </p>
      {isChanging ? <FactorDialog people={people} roles={roles} onClose={() => change(false)} /> : null}
    </Card>
  );
}

type Chosen = Role | 'everybody';

function FactorDialog({
  people,
  roles,
  onClose,
}: Omit<FactorRolesProps, 'mayChange'> & { readonly onClose: () => void }) {
  const { t } = useLocale('people');
  const { queries } = useDashboard();
  // Somebody may have joined or added a factor since the page was read.
  useQuery({ ...peopleQuery, refetchOnMount: 'always' });
  // The change began from these roles, even if others arrive.
  const [seen] = useState(roles);
  const [chosen, choose] = useState(roles);
  const save = useChange({
    send: (api) => api('POST /dashboard/api/people/factor-roles', { body: { roles: [...chosen], seen: [...seen] } }),
    stale: PEOPLE_KEY,
    done: t('factor_saved'),
    onDone: () => {
      // The signed-in person may be asked for one.
      void queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
      onClose();
    },
  });
  const isAll = chosen.length === ROLES.length;
  const lacking = people.filter((one) => lacksFactor(one, chosen)).map(({ name, email }) => name ?? email);
  return (
    <FormDialog
      name={t('factor_required')}
      confirm={t('save')}
      text={t('factor_text')}
      isDirty={String(chosen) !== String(seen)}
      action={save}
      onClose={onClose}
    >
      <Checks<Chosen>
        label={t('factor_roles')}
        chosen={isAll ? ['everybody', ...chosen] : chosen}
        options={[
          { value: 'everybody', text: t('factor_everybody') },
          ...ROLES.map((role) => ({ value: role, text: t(`role_${role}`) })),
        ]}
        onChosen={(given) => {
          const isEverybody = given.includes('everybody');
          if (isEverybody === isAll) choose(ROLES.filter((role) => given.includes(role)));
          else choose(isEverybody ? ROLES : []);
        }}
      />
      {lacking.length === 0 ? null : (
        <Notice kind="warning">{t('factor_lacking', { people: lacking.join(', ') })}</Notice>
      )}
    </FormDialog>
  );
}
