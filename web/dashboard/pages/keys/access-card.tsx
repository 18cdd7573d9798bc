import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { AccessView, AddressView } from '../../../../src/http/dashboard/keys/contract.ts';
import { useChange } from '../../change.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import rows from '../../ui/row.module.css';
import { Loaded } from '../../ui/placeholder.tsx';
import { problemOf } from '../../problem.ts';
import { ConfirmDialog, FormDialog } from '../../ui/action-dialog.tsx';
import { TextArea } from '../../ui/form.tsx';
import css from './keys.module.css';
import { reads } from '../../api.ts';
import { useScope, type Scope } from '../../scope.ts';

/** The addresses and pages that may use the project's keys. */
export function AccessCard({ mayChange }: { readonly mayChange: boolean }) {
  const { t } = useLocale('keys');
  const access = useQuery(accessQuery(useScope()));
  return (
    <Card title={t('access_title')}>
      <Loaded query={access} rows={2}>
        {(data) => <Lists access={data} mayChange={mayChange} />}
      </Loaded>
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
  /** The meaning of an empty list. */
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

interface AccessDialogProps {
  readonly access: AccessView;
  readonly onClose: () => void;
}

const linesOf = (text: string): string[] =>
  text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

type ListName = 'ips' | 'origins';

/** The edit of one list. It began from the shown list, even if another arrives. */
function useEdit(list: ListName, { access, onClose }: AccessDialogProps) {
  const { t } = useLocale('keys');
  const { queries } = useDashboard();
  const scope = useScope();
  const { queryKey } = accessQuery(scope);
  const [from] = useState(access);
  const before = from[`allow_${list}`];
  const [text, setText] = useState(before.join('\n'));
  const save = useChange<SavedAccess, boolean>({
    send: (api, anyway) => {
      const params = { project: scope.project };
      const body = { values: linesOf(text), before };
      return list === 'ips'
        ? api('POST /dashboard/api/projects/:project/access/ips', { params, body: { ...body, anyway } })
        : api('POST /dashboard/api/projects/:project/access/origins', { params, body });
    },
    done: ({ saved = true }) => (saved ? t('access_saved') : null),
    onDone: ({ saved = true, access: after }) => {
      if (!saved) return;
      queries.setQueryData(queryKey, after);
      onClose();
    },
    // Somebody else may have changed the list.
    onRefused: () => void queries.invalidateQueries({ queryKey }),
  });
  return { from, text, setText, isDirty: text !== before.join('\n'), save };
}

/** `saved` is left out where a list is saved in any case. */
interface SavedAccess {
  readonly access: AccessView;
  readonly saved?: boolean;
  readonly refused?: readonly AddressView[];
}

/** The addresses that may use secret keys. Asks first about addresses that used keys and would be refused. */
function AddressesDialog(props: AccessDialogProps) {
  const { t } = useLocale('keys');
  const { from, text, setText, isDirty, save } = useEdit('ips', props);
  const own = from.your_address;
  const [asked, ask] = useState<readonly AddressView[]>([]);
  if (asked.length > 0) {
    return (
      <ConfirmDialog
        name={t('access_anyway')}
        text={t('access_locked_out')}
        isDangerous
        action={{ ...save, mutate: () => save.mutate(true) }}
        onClose={() => ask([])}
      >
        <Addresses addresses={asked} areRefused={false} />
        <p>{t('access_locked_out_text')}</p>
      </ConfirmDialog>
    );
  }
  const lines = linesOf(text);
  const known = new Set([own, ...from.addresses.map(({ address }) => address)]);
  return (
    <FormDialog
      name={t('edit_addresses')}
      confirm={t('save')}
      text={t('access_your_address', { address: own })}
      isDirty={isDirty}
      action={{ ...save, mutate: () => save.mutate(false, { onSuccess: ({ refused = [] }) => ask(refused) }) }}
      fields={['values']}
      onClose={props.onClose}
    >
      <LinesField kind="addresses" value={text} fault={save.error} onValue={setText} />
      <div className={rows.buttons}>
        {[...known]
          .filter((one) => !lines.includes(one))
          .map((address) => (
            <Button key={address} small icon="plus" onClick={() => setText([...lines, address].join('\n'))}>
              {t('add_address', { address })}
            </Button>
          ))}
      </div>
    </FormDialog>
  );
}

/** The pages that may use public keys. */
function OriginsDialog(props: AccessDialogProps) {
  const { t } = useLocale('keys');
  const { text, setText, isDirty, save } = useEdit('origins', props);
  const action = { ...save, mutate: () => save.mutate(false) };
  const dialog = { name: t('edit_origins'), confirm: t('save'), text: t('access_text'), isDirty, action };
  return (
    <FormDialog {...dialog} fields={['values']} onClose={props.onClose}>
      <LinesField kind="origins" value={text} fault={save.error} onValue={setText} />
    </FormDialog>
  );
}

interface LinesFieldProps {
  readonly kind: 'addresses' | 'origins';
  readonly value: string;
  /** The server's error of the last attempt. */
  readonly fault: unknown;
  readonly onValue: (text: string) => void;
}

function LinesField({ kind, fault, ...rest }: LinesFieldProps) {
  const { t } = useLocale('keys');
  const words = { label: t(`access_field_${kind}`), hint: t(`access_field_${kind}_hint`) };
  return <TextArea {...rest} {...words} rows={4} spellCheck={false} problem={problemOf(fault, 'values')} />;
}

interface AddressesProps {
  readonly addresses: readonly AddressView[];
  /** Whether the present list refuses them. */
  readonly areRefused: boolean;
}

/** Addresses that used keys recently. */
function Addresses({ addresses, areRefused }: AddressesProps) {
  const { t, dateTime } = useLocale('keys');
  return (
    <ul className={css.clients}>
      {addresses.map(({ address, keys, last_seen_at: seen }) => (
        <li key={address}>
          <code>{address}</code>{' '}
          <small>
            {areRefused ? `${t('access_refused')} · ` : null}
            {t('access_used_by', { when: dateTime(seen), keys: keys.join(', ') })}
          </small>
        </li>
      ))}
    </ul>
  );
}

function accessQuery({ project }: Scope) {
  return reads(['access'], 'GET /dashboard/api/projects/:project/access', { params: { project } });
}
