import { Link } from '@tanstack/react-router';
import type { PersonView } from '../../../../src/http/dashboard/people/contract.ts';
import { useLocale } from '../../locale.tsx';
import { useSignedIn } from '../../session.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import rows from '../../ui/row.module.css';
import { Ago } from '../../ui/value.tsx';

/** The keys that a person made and that still work, with the way to the page of each. */
export function MadeKeys({ person: { keys, keys_elsewhere: elsewhere } }: { readonly person: PersonView }) {
  const { t } = useLocale('people', 'keys');
  const { projects } = useSignedIn();
  return (
    <>
      <ul>
        {keys.map((key) => (
          <li className={rows.row} key={key.id}>
            <div>
              <b>{key.name}</b>
              <span className={rows.badge}>{t(`key_mode_${key.mode}`)}</span>
              <small>
                {projects.find(({ id }) => id === key.project)?.name ?? key.project} ·{' '}
                {key.permission === null ? key.scopes?.join(', ') : t(`key_permission_${key.permission}`)}
              </small>
              <small>
                {key.last_used_at === null ? (
                  t('ago_never')
                ) : (
                  <>
                    {t('key_last_used')} <Ago iso={key.last_used_at} />
                  </>
                )}
              </small>
            </div>
            <Link
              className={buttonClass({ small: true })}
              to="/projects/$project/$mode/keys"
              params={{ project: key.project, mode: key.mode }}
            >
              {t('to_keys')}
            </Link>
          </li>
        ))}
      </ul>
      {elsewhere === 0 ? null : <p>{t('keys_elsewhere', { count: elsewhere })}</p>}
    </>
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
