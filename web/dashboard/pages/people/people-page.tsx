import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocale } from '../../locale.tsx';
import { useSignedIn } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Card } from '../../ui/card.tsx';
import rows from '../../ui/row.module.css';
import type { Role } from '../../../../src/domain/role.ts';
import { FactorRoles, lacksFactor } from './factor-roles.tsx';
import { AddButton, Button, LinkButton, buttonClass } from '../../ui/button.tsx';
import { Loaded } from '../../ui/placeholder.tsx';
import { PersonDialog, type PersonAct } from './person-dialogs.tsx';
import type { PersonView } from '../../../../src/http/dashboard/people/contract.ts';
import { Icon } from '../../ui/icons.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { Ago } from '../../ui/value.tsx';
import { peopleQuery } from './role-dialogs.tsx';

/** The people who may use the dashboard, and their roles. */
export function PeoplePage() {
  const { t } = useLocale('people');
  const { person } = useSignedIn();
  const people = useQuery(peopleQuery);
  const [act, setAct] = useState<PersonAct | null>(null);
  const mayManage = person.actions.includes('manage_people');
  return (
    <Page
      title={t('people')}
      hasTimes
      actions={
        <AddButton name={t('invite')} isPermitted={mayManage} onAdd={() => setAct({ kind: 'invite', of: null })} />
      }
    >
      <div className={rows.stack}>
        <Card>
          <Loaded query={people} rows={4}>
            {({ data, factor_roles: factorRoles }) => (
              <ul aria-label={t('people')}>
                {data.map((one) => (
                  <PersonRow
                    key={one.id}
                    person={one}
                    factorRoles={factorRoles}
                    isSelf={one.id === person.id}
                    mayManage={mayManage}
                    onAct={setAct}
                  />
                ))}
              </ul>
            )}
          </Loaded>
        </Card>
        {people.data === undefined ? null : (
          <FactorRoles people={people.data.data} roles={people.data.factor_roles} mayChange={mayManage} />
        )}
      </div>
      {act === null ? null : <PersonDialog act={act} onClose={() => setAct(null)} />}
    </Page>
  );
}

interface PersonRowProps {
  readonly person: PersonView;
  readonly factorRoles: readonly Role[];
  readonly isSelf: boolean;
  readonly mayManage: boolean;
  readonly onAct: (act: PersonAct) => void;
}

/** One person: their roles, and the owner's actions. */
function PersonRow({ person, factorRoles, isSelf, mayManage, onAct }: PersonRowProps) {
  const { t } = useLocale('people');
  const { email, name, state, memberships, keys, keys_elsewhere: elsewhere } = person;
  const count = keys.length + elsewhere;
  return (
    <li className={rows.row}>
      <div>
        <b>{name ?? email}</b>
        {isSelf ? <span className={rows.badge}>{t('person_you')}</span> : null}
        {state === 'active' ? null : <span className={rows.badge}>{t(`person_${state}`)}</span>}
        {name === null ? null : <small>{email}</small>}
        <small>
          <Roles memberships={memberships} />
        </small>
        <small>
          {person.last_seen_at === null ? (
            t('person_seen_never')
          ) : (
            <>
              {t('person_seen')} <Ago iso={person.last_seen_at} />
            </>
          )}
          {state === 'active' ? ` · ${t(factorText(person, factorRoles))}` : null}
        </small>
        {count === 0 ? null : (
          <small>
            <LinkButton onClick={() => onAct({ kind: 'keys', person })}>{t('keys_made', { count })}</LinkButton>
          </small>
        )}
      </div>
      <span className={rows.buttons}>
        {mayManage && state === 'deactivated' ? (
          <Button small onClick={() => onAct({ kind: 'invite', of: person })}>
            {t('invite_again')}
          </Button>
        ) : null}
        {mayManage && state !== 'deactivated' ? (
          <Button
            small
            aria-label={t('change_role_of', { email })}
            onClick={() => onAct({ kind: 'change_role', person })}
          >
            {t('change_role')}
          </Button>
        ) : null}
        {state === 'deactivated' || isSelf ? null : <More person={person} mayManage={mayManage} onAct={onAct} />}
      </span>
    </li>
  );
}

function factorText(person: PersonView, roles: readonly Role[]) {
  if (person.has_second_factor) return 'second_factor_on';
  return lacksFactor(person, roles) ? 'second_factor_missing' : 'second_factor_off';
}

function Roles({ memberships }: Pick<PersonView, 'memberships'>) {
  const { t } = useLocale('people');
  const { projects } = useSignedIn();
  if (memberships.length === 0) return t('no_role');
  const texts = memberships.map(({ project, role }) => {
    if (project === null) return t('role_in_all', { role: t(`role_${role}`) });
    const name = projects.find(({ id }) => id === project)?.name ?? project;
    return t('role_in', { role: t(`role_${role}`), project: name });
  });
  return texts.join(' · ');
}

/** Rarer actions; people find theirs on the account page. */
function More({ person, mayManage, onAct }: Omit<PersonRowProps, 'factorRoles' | 'isSelf'>) {
  const { t } = useLocale('people');
  const { email, state, has_second_factor: hasFactor } = person;
  const item = (kind: Exclude<PersonAct['kind'], 'invite'>, text: string) => ({
    key: kind,
    text,
    onChoose: () => onAct({ kind, person }),
  });
  const items = [
    ...(state === 'active' ? [item('sessions', t('sessions_of'))] : []),
    ...(!mayManage
      ? []
      : [
          state === 'active'
            ? item('reset', t('reset_password'))
            : { key: 'invite', text: t('invite_again'), onChoose: () => onAct({ kind: 'invite', of: person }) },
          ...(hasFactor ? [item('remove_factors', t('remove_factors'))] : []),
          { ...item('deactivate', t('deactivate')), isApart: true },
        ]),
  ];
  if (items.length === 0) return null;
  return (
    <MenuButton label={t('more_for', { email })} className={buttonClass({ small: true })} items={items}>
      <Icon name="dots" size={16} />
    </MenuButton>
  );
}
