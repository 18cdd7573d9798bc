import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { WalletsView } from '../../../../src/http/dashboard/contract/wallets.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Field } from '../../ui/field.tsx';
import rows from '../account/account.module.css';
import { useWalletsCache } from './queries.ts';

interface PricesCardProps {
  readonly wallets: WalletsView;
  readonly mayManage: boolean;
}

/** What customers pay above the market, and how long payments are watched. */
export function PricesCard({ wallets, mayManage }: PricesCardProps) {
  const { t, number } = useLocale('wallets');
  const [isEditing, edit] = useState(false);
  return (
    <Card title={t('prices_title')}>
      <ul>
        <li className={rows.row}>
          <div>
            <b>{t('spread')}</b>
            <span className={rows.badge}>{t('in_percent', { percent: number(Number(wallets.spread)) })}</span>
            <small>{t('spread_text')}</small>
          </div>
          {mayManage ? <Button onClick={() => edit(true)}>{t('spread_edit')}</Button> : null}
        </li>
        <li className={rows.row}>
          <div>
            <b>{t('monitoring')}</b>
            <span className={rows.badge}>{t('monitoring_hours', { hours: wallets.monitoring_hours })}</span>
            <small>{t('monitoring_text')}</small>
          </div>
        </li>
      </ul>
      {isEditing ? <SpreadDialog wallets={wallets} onClose={() => edit(false)} /> : null}
    </Card>
  );
}

function SpreadDialog({ wallets, onClose }: { readonly wallets: WalletsView; readonly onClose: () => void }) {
  const { t } = useLocale('wallets');
  const { api, toast } = useDashboard();
  const { project } = useScope();
  const { show, reload } = useWalletsCache();
  const [from] = useState(wallets);
  const [spread, setSpread] = useState(from.spread);
  const save = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/projects/:project/payment-terms', {
        params: { project },
        body: { spread: spread.trim().replace(',', '.'), version: from.version },
      }),
    onSuccess: (after) => {
      show(after);
      toast(t('spread_saved'));
      onClose();
    },
    onError: reload,
  });
  return (
    <FormDialog
      name={t('spread_edit')}
      text={t('spread_text')}
      isDirty={spread !== from.spread}
      action={save}
      fields={['spread']}
      onClose={onClose}
    >
      <Field
        label={t('spread_percent')}
        value={spread}
        onValue={setSpread}
        hint={t('spread_hint')}
        problem={problemOf(save.error, 'spread')}
        required
        inputMode="decimal"
        max={10}
        autoComplete="off"
      />
    </FormDialog>
  );
}
