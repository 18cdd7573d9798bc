import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { AccessView } from '../../../../src/http/dashboard/keys/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import rows from '../account/account.module.css';
import { AddressesDialog, OriginsDialog } from './access-dialogs.tsx';
import { Addresses } from './addresses.tsx';
import { Failed } from './failed.tsx';
import { accessQuery } from './queries.ts';

/** From where the project's keys may be used. */
export function AccessCard({ mayChange }: { readonly mayChange: boolean }) {
  const { t } = useLocale('keys');
  const { api } = useDashboard();
  const access = useQuery(accessQuery(api, useScope()));
  return (
    <Card title={t('access_title')}>
      {access.data === undefined ? (
        <Failed query={access} rows={2} />
      ) : (
        <Lists access={access.data} mayChange={mayChange} />
      )}
    </Card>
  );
}

function Lists({ access, mayChange }: { readonly access: AccessView; readonly mayChange: boolean }) {
  const { t } = useLocale('keys');
  const [edited, edit] = useState<'addresses' | 'origins' | null>(null);
  const close = (): void => edit(null);
  const { allow_ips: ips, allow_origins: origins, addresses, your_address: own } = access;
  const refused = addresses.filter((one) => !one.is_allowed);
  return (
    <div>
      <p>{t('access_text')}</p>
      <List
        title={t('access_addresses')}
        values={ips}
        empty={t('access_addresses_all')}
        action={mayChange ? <Button onClick={() => edit('addresses')}>{t('edit_addresses')}</Button> : null}
      >
        <small>{t('access_your_address', { address: own })}</small>
        {refused.length === 0 ? null : <Addresses addresses={refused} areRefused />}
      </List>
      <List
        title={t('access_origins')}
        values={origins}
        empty={t('access_origins_none')}
        action={mayChange ? <Button onClick={() => edit('origins')}>{t('edit_origins')}</Button> : null}
      />
      {edited === 'addresses' ? <AddressesDialog access={access} onClose={close} /> : null}
      {edited === 'origins' ? <OriginsDialog access={access} onClose={close} /> : null}
    </div>
  );
}

interface ListProps {
  readonly title: string;
  readonly values: readonly string[];
  /** What an empty list means. */
  readonly empty: string;
  readonly action: ReactNode;
  readonly children?: ReactNode;
}

function List({ title, values, empty, action, children }: ListProps) {
  return (
    <div className={rows.row}>
      <div>
        <b>{title}</b>
        {values.length === 0 ? <small>{empty}</small> : null}
        {values.map((value) => (
          <div key={value}>
            <code>{value}</code>
          </div>
        ))}
        {children}
      </div>
      {action}
    </div>
  );
}
