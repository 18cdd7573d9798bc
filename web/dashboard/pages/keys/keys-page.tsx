import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { KeyView } from '../../../../src/http/dashboard/keys/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { useSignedIn } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import rows from '../account/account.module.css';
import { AddButton } from './add-button.tsx';
import { AccessCard } from './access-card.tsx';
import { Failed } from './failed.tsx';
import { KeyDialog, type KeyAct } from './key-dialogs.tsx';
import { KeyRow } from './key-row.tsx';
import css from './keys.module.css';
import { keysQuery } from './queries.ts';

/** The API keys of a project and mode, and from where they may be used. */
export function KeysPage() {
  const { t } = useLocale('keys');
  const scope = useScope();
  const project = useSignedIn().projects.find(({ id }) => id === scope.project);
  const mayManage = project?.actions.includes(`manage_${scope.mode}_keys`) === true;
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
        <AccessCard mayChange={project?.actions.includes('manage_settings') === true} />
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
  const { api } = useDashboard();
  const scope = useScope();
  const list = useQuery(keysQuery(api, scope));
  if (list.data === undefined) {
    return (
      <Card>
        <Failed query={list} rows={4} />
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
