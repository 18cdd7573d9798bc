import { useQuery } from '@tanstack/react-query';
import { useState, useId } from 'react';
import type { KeyView } from '../../../../src/http/dashboard/keys/contract.ts';
import { useLocale, type Translate } from '../../locale.tsx';
import { useActions } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Button, AddButton, ExpandButton } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty, NotLoaded } from '../../ui/placeholder.tsx';
import rows from '../../ui/row.module.css';
import { AccessCard } from './access-card.tsx';
import { KeyDialog, type KeyAct, Clients, keysQuery } from './key-dialogs.tsx';
import css from './keys.module.css';
import { ShopCard } from './shop-card.tsx';
import { Short, Ago, Moment, personText } from '../../ui/value.tsx';
import { useScope } from '../../scope.ts';

/** The API keys of a project and mode, how a shop is connected, and the addresses that may use keys. */
export function KeysPage() {
  const { t } = useLocale('keys');
  const scope = useScope();
  const actions = useActions();
  const mayManage = actions.includes(`manage_${scope.mode}_keys`);
  const [act, setAct] = useState<KeyAct | null>(null);
  const create = (): void => setAct({ kind: 'create' });
  return (
    <Page
      title={t('keys')}
      hasTimes
      actions={<AddButton name={t('create_key')} isPermitted={mayManage} onAdd={create} />}
    >
      <div className={rows.stack}>
        <Keys mayManage={mayManage} onAct={setAct} />
        <ShopCard onCreate={mayManage ? create : null} />
        <AccessCard mayChange={actions.includes('manage_settings')} />
      </div>
      {act === null ? null : <KeyDialog act={act} onClose={() => setAct(null)} />}
    </Page>
  );
}

interface KeysProps {
  readonly mayManage: boolean;
  readonly onAct: (act: KeyAct) => void;
}

function Keys({ mayManage, onAct }: KeysProps) {
  const { t } = useLocale('keys');
  const scope = useScope();
  const list = useQuery(keysQuery(scope));
  if (list.data === undefined) {
    return (
      <Card>
        <NotLoaded query={list} rows={4} />
      </Card>
    );
  }
  const { data } = list.data;
  const working = data.filter(({ state }) => state !== 'ended');
  const ended = data.filter(({ state }) => state === 'ended');
  const row = (one: KeyView) => <KeyRow key={one.id} apiKey={one} mayManage={mayManage} onAct={onAct} />;
  return (
    <Card>
      {working.length === 0 ? (
        <Empty
          icon="key"
          title={t('keys_none_title')}
          text={t(scope.mode === 'test' ? 'keys_none_test' : 'keys_none_live')}
        >
          {mayManage ? <Button onClick={() => onAct({ kind: 'create' })}>{t('create_key')}</Button> : undefined}
        </Empty>
      ) : (
        <ul aria-label={t('keys')}>{working.map(row)}</ul>
      )}
      {ended.length === 0 ? null : (
        <details className={css.ended}>
          <summary>{t('key_count_ended', { count: ended.length })}</summary>
          <ul>{ended.map(row)}</ul>
        </details>
      )}
    </Card>
  );
}

interface KeyRowProps {
  readonly apiKey: KeyView;
  readonly mayManage: boolean;
  readonly onAct: (act: KeyAct) => void;
}

/** One key: its permissions, its recent use, and the possible actions. */
function KeyRow({ apiKey, mayManage, onAct }: KeyRowProps) {
  const { t } = useLocale('keys');
  const [isOpen, open] = useState(false);
  const clientsId = useId();
  const { name, state, clients } = apiKey;
  const usage = t(isOpen ? 'used_from_hide' : 'used_from_page');
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
          <ExpandButton isOpen={isOpen} controls={clientsId} label={`${usage}: ${name}`} text={usage} onOpen={open} />
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

function whoOf(
  { kind, name, person_name: personName }: NonNullable<KeyView['created_by']>,
  t: Translate<'keys'>,
): string {
  if (kind === 'command') return t('by_command', { name });
  return kind === 'service' ? t('by_service') : personText({ email: name, name: personName });
}
