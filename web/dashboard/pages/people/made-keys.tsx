import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { MadeKeyView, PersonView } from '../../../../src/http/dashboard/people/contract.ts';
import { useLocale } from '../../locale.tsx';
import { useSignedIn } from '../../session.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import rows from '../../ui/row.module.css';
import { Ago } from '../../ui/value.tsx';
import { peopleQuery } from './role-dialogs.tsx';

interface MadeKeysProps {
  /** The person as the list had them: the keys are read again. */
  readonly person: PersonView;
  /** The sentence above the keys, if there are any. */
  readonly lead?: string;
}

/** The keys that a person made and that still work, with the way to the page of each. */
export function MadeKeys({ person: { id, ...known }, lead }: MadeKeysProps) {
  const { t } = useLocale('people');
  const { data } = useQuery({ ...peopleQuery, refetchOnMount: 'always' });
  const { keys, keys_elsewhere: elsewhere } = data?.data.find((one) => one.id === id) ?? known;
  if (keys.length + elsewhere === 0) return null;
  return (
    <>
      {lead === undefined ? null : <Notice kind="warning">{lead}</Notice>}
      <ul>
        {keys.map((one) => (
          <MadeKey key={one.id} made={one} />
        ))}
      </ul>
      {elsewhere === 0 ? null : <p>{t('keys_elsewhere', { count: elsewhere })}</p>}
    </>
  );
}

function MadeKey({ made }: { readonly made: MadeKeyView }) {
  const { t } = useLocale('people', 'keys');
  const { projects } = useSignedIn();
  const { name, project, mode, permission, scopes, last_used_at: usedAt } = made;
  return (
    <li className={rows.row}>
      <div>
        <b>{name}</b>
        <span className={rows.badge}>{t(`key_mode_${mode}`)}</span>
        <small>
          {projects.find(({ id }) => id === project)?.name ?? project} ·{' '}
          {permission === null ? scopes?.join(', ') : t(`key_permission_${permission}`)}
        </small>
        <small>
          {usedAt === null ? (
            t('ago_never')
          ) : (
            <>
              {t('key_last_used')} <Ago iso={usedAt} />
            </>
          )}
        </small>
      </div>
      <Link className={buttonClass({ small: true })} to="/projects/$project/$mode/keys" params={{ project, mode }}>
        {t('to_keys')}
      </Link>
    </li>
  );
}

export function KeysDialog({ person, onClose }: { readonly person: PersonView; readonly onClose: () => void }) {
  const { t } = useLocale('people');
  return (
    <Dialog title={t('keys_of')} description={t('keys_of_text', { email: person.email })} onClose={onClose}>
      <MadeKeys person={person} />
    </Dialog>
  );
}
