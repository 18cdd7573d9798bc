import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useSignedIn } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Card } from '../../ui/card.tsx';
import rows from '../account/account.module.css';
import { AddButton } from '../keys/add-button.tsx';
import { Failed } from '../keys/failed.tsx';
import { PersonDialog, type PersonAct } from './person-dialogs.tsx';
import { PersonRow } from './person-row.tsx';
import { peopleQuery } from './queries.ts';

/** Who may use the dashboard, and what each may do. */
export function PeoplePage() {
  const { t } = useLocale('people');
  const { api } = useDashboard();
  const { person } = useSignedIn();
  const people = useQuery(peopleQuery(api));
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
          {people.data === undefined ? (
            <Failed query={people} rows={4} />
          ) : (
            <ul aria-label={t('people')}>
              {people.data.map((one) => (
                <PersonRow
                  key={one.id}
                  person={one}
                  isSelf={one.id === person.id}
                  mayManage={mayManage}
                  onAct={setAct}
                />
              ))}
            </ul>
          )}
        </Card>
      </div>
      {act === null ? null : <PersonDialog act={act} onClose={() => setAct(null)} />}
    </Page>
  );
}
