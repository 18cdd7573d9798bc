import { useId, useState } from 'react';
import type { KeyView } from '../../../../src/http/dashboard/keys/contract.ts';
import { useLocale, type Translate } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Short } from '../../ui/copy.tsx';
import { Ago, Moment } from '../../ui/moment.tsx';
import rows from '../account/account.module.css';
import { Clients } from './clients.tsx';
import { ExpandButton } from './expand-button.tsx';
import type { KeyAct } from './key-dialogs.tsx';
import css from './keys.module.css';

interface KeyRowProps {
  readonly apiKey: KeyView;
  readonly mayManage: boolean;
  readonly onAct: (act: KeyAct) => void;
}

/** One key: what it may do, when and from where it was used, and what can be done with it. */
export function KeyRow({ apiKey, mayManage, onAct }: KeyRowProps) {
  const { t } = useLocale('keys');
  const [isOpen, open] = useState(false);
  const clientsId = useId();
  const { name, state, clients } = apiKey;
  return (
    <li className={rows.row}>
      <div>
        <b>{name}</b>
        <span className={rows.badge}>{t(`key_kind_${apiKey.kind}`)}</span>
        <span className={rows.badge}>
          {apiKey.permission === null ? apiKey.scopes?.join(', ') : t(`key_permission_${apiKey.permission}`)}
        </span>
        {state === 'active' ? null : <span className={rows.badge}>{t(`key_${state}`)}</span>}
        <small>
          {apiKey.last_used_at === null ? (
            t('ago_never')
          ) : (
            <>
              {t('key_last_used')} <Ago iso={apiKey.last_used_at} />
            </>
          )}
        </small>
        <small>
          {apiKey.created_by === null ? null : `${t('created_by', { who: whoOf(apiKey.created_by, t) })}, `}
          <Moment iso={apiKey.created_at} /> · <Short text={apiKey.id} what={t('key_id')} />
        </small>
        <Ending apiKey={apiKey} />
      </div>
      <span className={rows.buttons}>
        {clients.length === 0 ? null : (
          <ExpandButton
            isOpen={isOpen}
            controls={clientsId}
            label={t('used_from_named', { name })}
            text={t(isOpen ? 'used_from_hide' : 'used_from_page')}
            onOpen={open}
          />
        )}
        {mayManage && state === 'active' ? (
          <Button small aria-label={t('roll_named', { name })} onClick={() => onAct({ kind: 'roll', apiKey })}>
            {t('roll')}
          </Button>
        ) : null}
        {mayManage && state !== 'ended' ? (
          <Button small aria-label={t('revoke_named', { name })} onClick={() => onAct({ kind: 'revoke', apiKey })}>
            {t('revoke')}
          </Button>
        ) : null}
      </span>
      {isOpen ? (
        <div id={clientsId} className={css.below}>
          <Clients clients={clients} />
        </div>
      ) : null}
    </li>
  );
}

/** When and by whom a key was ended, or when it ends. */
function Ending({ apiKey: { state, ends_at: endsAt, ended_by: by } }: { readonly apiKey: KeyView }) {
  const { t, dateTime } = useLocale('keys');
  if (endsAt === null) return null;
  return (
    <small>
      {state === 'ending' ? (
        t('key_replaced', { when: dateTime(endsAt) })
      ) : (
        <>
          {t('key_ended')} <Moment iso={endsAt} />
          {by === null ? null : ` · ${whoOf(by, t)}`}
        </>
      )}
    </small>
  );
}

function whoOf({ kind, name }: NonNullable<KeyView['created_by']>, t: Translate<'keys'>): string {
  if (kind === 'command') return t('by_command', { name });
  return kind === 'service' ? t('by_service') : name;
}
