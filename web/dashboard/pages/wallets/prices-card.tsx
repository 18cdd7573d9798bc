import { useState } from 'react';
import type { BodyOf } from '../../../../src/http/dashboard/contract.ts';
import type { WalletsView } from '../../../../src/http/dashboard/wallets/contract.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import rows from '../../ui/row.module.css';
import { PercentField, percentOf, WholeNumberField, useWalletsChange } from './term-fields.tsx';
import { useScope } from '../../scope.ts';

const TERMS = 'POST /dashboard/api/projects/:project/payment-terms';

interface PricesCardProps {
  readonly wallets: WalletsView;
  readonly mayManage: boolean;
}

/** The spread above the market, and how long payments are watched. */
export function PricesCard({ wallets, mayManage }: PricesCardProps) {
  const { t, number } = useLocale('wallets');
  const [edited, edit] = useState<'spread' | 'window' | null>(null);
  const close = (): void => edit(null);
  return (
    <Card title={t('prices_title')}>
      <ul>
        <Term
          name={t('spread')}
          value={t('in_percent', { percent: number(Number(wallets.spread)) })}
          text={t('spread_text')}
          edit={t('spread_edit')}
          onEdit={mayManage ? () => edit('spread') : null}
        />
        <Term
          name={t('monitoring')}
          value={t('monitoring_hours', { hours: wallets.monitoring_hours })}
          text={t('monitoring_text')}
          edit={t('monitoring_edit')}
          onEdit={mayManage ? () => edit('window') : null}
        />
      </ul>
      {edited === 'spread' ? <SpreadDialog wallets={wallets} onClose={close} /> : null}
      {edited === 'window' ? <WindowDialog wallets={wallets} onClose={close} /> : null}
    </Card>
  );
}

interface TermProps {
  readonly name: string;
  readonly value: string;
  readonly text: string;
  /** The button's text. */
  readonly edit: string;
  /** Null if the person may only see it. */
  readonly onEdit: (() => void) | null;
}

function Term({ name, value, text, edit, onEdit }: TermProps) {
  return (
    <li className={rows.row}>
      <div>
        <b>{name}</b>
        <span className={rows.badge}>{value}</span>
        <small>{text}</small>
      </div>
      {onEdit === null ? null : (
        <Button small onClick={onEdit}>
          {edit}
        </Button>
      )}
    </li>
  );
}

interface DialogProps {
  readonly wallets: WalletsView;
  readonly onClose: () => void;
}

type Body = BodyOf<typeof TERMS>;

/** Saves one of the terms. The edit began from the shown version, even if another arrives. */
function useSaveTerm({ wallets, onClose }: DialogProps, saved: 'spread_saved' | 'monitoring_saved') {
  const { t } = useLocale('wallets');
  const { project } = useScope();
  const [{ version }] = useState(wallets);
  return useWalletsChange({
    send: (api, term: Omit<Body, 'version'>) => api(TERMS, { params: { project }, body: { ...term, version } }),
    of: (after) => after,
    done: t(saved),
    onDone: onClose,
  });
}

function SpreadDialog(props: DialogProps) {
  const { t } = useLocale('wallets');
  const [from] = useState(props.wallets.spread);
  const [spread, setSpread] = useState(from);
  const save = useSaveTerm(props, 'spread_saved');
  const action = { ...save, mutate: () => save.mutate({ spread: percentOf(spread) }) };
  const dialog = { name: t('spread_edit'), confirm: t('save'), text: t('spread_text'), onClose: props.onClose };
  return (
    <FormDialog {...dialog} isDirty={spread !== from} action={action} fields={['spread']}>
      <PercentField
        label={t('spread_percent')}
        hint={t('spread_hint')}
        value={spread}
        problem={problemOf(save.error, 'spread')}
        required
        onValue={setSpread}
      />
    </FormDialog>
  );
}

function WindowDialog(props: DialogProps) {
  const { t } = useLocale('wallets');
  const [from] = useState(props.wallets.has_own_window ? String(props.wallets.monitoring_hours) : '');
  const [hours, setHours] = useState(from);
  const save = useSaveTerm(props, 'monitoring_saved');
  const mutate = (): void => save.mutate({ monitoring_hours: hours === '' ? null : Number(hours) });
  const dialog = { name: t('monitoring_edit'), confirm: t('save'), text: t('monitoring_text'), onClose: props.onClose };
  return (
    <FormDialog {...dialog} isDirty={hours !== from} action={{ ...save, mutate }} fields={['monitoring_hours']}>
      <WholeNumberField
        label={t('monitoring_field')}
        hint={t('monitoring_hint')}
        value={hours}
        problem={problemOf(save.error, 'monitoring_hours')}
        onValue={setHours}
      />
    </FormDialog>
  );
}
