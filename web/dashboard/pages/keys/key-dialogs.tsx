import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AnswerOf } from '../../../../src/http/dashboard/contract.ts';
import type { KeyView } from '../../../../src/http/dashboard/keys/contract.ts';
import { useChange } from '../../change.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { ConfirmDialog, FormDialog } from '../../ui/action-dialog.tsx';
import { Checks, Choices } from '../../ui/choices.tsx';
import { NameField } from '../../ui/form.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Once, Ago } from '../../ui/value.tsx';
import keysCss from './keys.module.css';
import { reads } from '../../api.ts';
import { useActions } from '../../session.ts';
import { useScope, type Scope } from '../../scope.ts';

type KeyScope = NonNullable<KeyView['scopes']>[number];

const TEXTS = {
  'payments:create': 'key_scope_payments_create',
  'payments:read': 'key_scope_payments_read',
  'payments:change': 'key_scope_payments_change',
  refunds: 'key_scope_refunds',
  webhooks: 'key_scope_webhooks',
  events: 'key_scope_events',
} as const satisfies Readonly<Record<KeyScope, string>>;
const ALL = Object.keys(TEXTS) as readonly KeyScope[];

/** The scopes that a key of a kind can have. */
function scopesFor(kind: KeyView['kind']): readonly KeyScope[] {
  return kind === 'secret' ? ALL : ['payments:create', 'payments:read'];
}

/** An action on keys. */
export type KeyAct = { readonly kind: 'create' } | { readonly kind: 'roll' | 'revoke'; readonly apiKey: KeyView };

/** The dialog of an action on keys. */
export function KeyDialog({ act, onClose }: { readonly act: KeyAct; readonly onClose: () => void }) {
  switch (act.kind) {
    case 'create':
      return <CreateKeyDialog onClose={onClose} />;
    case 'roll':
      return <RollDialog apiKey={act.apiKey} onClose={onClose} />;
    case 'revoke':
      return <RevokeDialog apiKey={act.apiKey} onClose={onClose} />;
  }
}

const KEYS = 'POST /dashboard/api/projects/:project/:mode/keys';

/** Creates a key, and shows it once. */
export function CreateKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale('keys');
  const scope = useScope();
  const [name, setName] = useState('');
  const [kind, setKind] = useState<KeyView['kind']>('secret');
  const [permission, setPermission] = useState<NonNullable<KeyView['permission']> | 'scopes'>('full');
  const [scopes, setScopes] = useState<readonly KeyScope[]>([]);
  const offered = scopesFor(kind);
  const grant =
    permission === 'scopes' ? { scopes: offered.filter((scope) => scopes.includes(scope)) } : { permission };
  const create = useChange({
    send: (api) => api(KEYS, { params: { ...scope }, body: { name: name.trim(), kind, ...grant } }),
    stale: keysKey(scope),
  });
  if (create.data !== undefined) return <NewKeyDialog made={create.data} done={t('key_created')} onClose={onClose} />;
  const dialog = { name: t('create_key'), text: t('create_key_text'), onClose };
  return (
    <FormDialog {...dialog} isDirty={name !== ''} action={create} fields={['name']}>
      <NameField value={name} fault={create.error} hint={t('key_name_hint')} onValue={setName} />
      <Choices
        label={t('key_kind')}
        value={kind}
        options={(['secret', 'public'] as const).map((value) => ({
          value,
          text: t(`key_kind_${value}`),
          detail: t(`key_kind_${value}_text`),
        }))}
        onValue={setKind}
      />
      <Choices
        label={t('key_permission')}
        value={permission}
        options={(['full', 'read', 'write', 'scopes'] as const).map((value) => ({
          value,
          text: t(`key_permission_${value}`),
          detail: t(`key_permission_${value}_text`),
        }))}
        onValue={setPermission}
      />
      {permission === 'scopes' ? (
        <Checks
          label={t('key_permission_scopes')}
          chosen={scopes}
          options={offered.map((scope) => ({ value: scope, text: <code>{scope}</code>, detail: t(TEXTS[scope]) }))}
          onChosen={setScopes}
        />
      ) : null}
    </FormDialog>
  );
}

interface OfKey {
  readonly apiKey: KeyView;
  readonly onClose: () => void;
}

const OVERLAPS = ['24', '72', '168', '1', '0'] as const;

function RollDialog({ apiKey, onClose }: OfKey) {
  const { t } = useLocale('keys');
  const scope = useScope();
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>('24');
  const roll = useChange({
    send: (api) =>
      api(`${KEYS}/:key/roll`, { params: { ...scope, key: apiKey.id }, body: { overlap_hours: Number(overlap) } }),
    stale: keysKey(scope),
  });
  if (roll.data !== undefined) return <NewKeyDialog made={roll.data} done={t('key_rolled')} onClose={onClose} />;
  const options = OVERLAPS.map((value) => ({
    value,
    text: t(`roll_${value}`),
    ...(value === '0' && { detail: t('roll_0_text') }),
  }));
  return (
    <FormDialog name={t('roll')} text={t('roll_text')} action={roll} onClose={onClose}>
      <p>
        <b>{apiKey.name}</b>
      </p>
      <Choices label={t('roll_when')} value={overlap} options={options} onValue={setOverlap} />
    </FormDialog>
  );
}

function RevokeDialog({ apiKey, onClose }: OfKey) {
  const { t } = useLocale('keys');
  const scope = useScope();
  const revoke = useChange({
    send: (api) => api(`${KEYS}/:key/revoke`, { params: { ...scope, key: apiKey.id } }),
    stale: keysKey(scope),
    done: t('key_revoked'),
    onDone: onClose,
  });
  const clients = apiKey.clients.filter((one) => one.last_used_at !== null);
  return (
    <ConfirmDialog
      name={t('revoke')}
      text={
        <>
          <b>{apiKey.name}</b>
          <br />
          {t('revoke_text')}
        </>
      }
      isDangerous
      action={revoke}
      onClose={onClose}
    >
      <p>{t(clients.length === 0 ? 'revoke_unused' : 'revoke_used')}</p>
      {clients.length === 0 ? null : <Clients clients={clients} />}
    </ConfirmDialog>
  );
}

interface NewKeyDialogProps {
  readonly made: { readonly key: KeyView; readonly text: string };
  /** The toast once the dialog is closed. */
  readonly done: string;
  readonly onClose: () => void;
}

/** Shows a key. Only its button closes it, because the key is never shown again. */
function NewKeyDialog({ made: { key, text }, done, onClose }: NewKeyDialogProps) {
  const { t } = useLocale('keys');
  const { toast } = useDashboard();
  const scope = useScope();
  const { data } = useQuery(keysQuery(scope));
  // Developers may make live keys, but no live payments themselves.
  const mayPay = useActions().includes(`change_${scope.mode}_payments`);
  const tokens = reads(['tokens'], 'GET /dashboard/api/projects/:project/:mode/tokens', { params: scope });
  const offer = useQuery({ ...tokens, enabled: mayPay });
  const order = orderOf(key, offer.data);
  const command = data === undefined || offer.isLoading ? null : curlOf(data.api_url, text, key, order);
  return (
    <Dialog title={t('new_key')} description={key.name} wide>
      <Notice kind="warning">{t('key_once')}</Notice>
      <Once text={text} copy={t('key_copy')} />
      {command === null ? null : <Once title={t('curl_title')} text={command} copy={t('curl_copy')} />}
      {command !== null && order !== null && scope.mode === 'live' ? <Notice>{t('curl_real')}</Notice> : null}
      <DialogActions
        confirm={t('key_kept')}
        onConfirm={() => {
          toast(done);
          onClose();
        }}
      />
    </Dialog>
  );
}

type Offer = AnswerOf<'GET /dashboard/api/projects/:project/:mode/tokens'>;

/** An order that the key may create and the project accepts; null if there is none. */
function orderOf({ permission, scopes }: KeyView, offer: Offer | undefined): object | null {
  const mayCreate = scopes === null ? permission !== 'read' : scopes.includes('payments:create');
  const token = offer?.data[0];
  if (!mayCreate || offer === undefined || token === undefined) return null;
  const { asset, network } = token;
  const currency = offer.defaults.currency ?? 'USD';
  // Less is worth too little to be sent in bitcoin.
  const amount = currency === 'JPY' || currency === 'INR' ? 2_500 : 25;
  return { amount, currency, crypto_currency: asset, network };
}

/** A request that the key may make: the order, or without one a list; null if it may do neither. */
function curlOf(apiUrl: string, text: string, { permission, scopes }: KeyView, order: object | null): string | null {
  const key = `-H 'Authorization: Bearer ${text}'`;
  if (order !== null) {
    const body = `-H 'Content-Type: application/json' -d '${JSON.stringify(order)}'`;
    return `curl '${apiUrl}/v1/orders' ${key} ${body}`;
  }
  const mayRead = scopes === null ? permission !== 'write' : scopes.includes('payments:read');
  return mayRead ? `curl '${apiUrl}/v1/orders?limit=1' ${key}` : null;
}

/** The clients that used a key recently. */
export function Clients({ clients }: { readonly clients: KeyView['clients'] }) {
  const { t, number, dateTime } = useLocale('keys');
  return (
    <ul className={keysCss.clients} aria-label={t('used_from')}>
      {clients.map((one) => (
        <li key={one.client ?? ''}>
          <code>{one.client ?? t('used_from_others')}</code>
          <small>
            <Ago iso={one.last_seen_at} /> · {t('requests_count', { count: number(one.requests) })}
            {one.user_agent === null ? null : ` · ${one.user_agent}`}
            {one.last_refused_at === null ? null : ` · ${t('used_refused', { when: dateTime(one.last_refused_at) })}`}
          </small>
        </li>
      ))}
    </ul>
  );
}

/** Uses are saved at intervals, and no stream reports them. */
const EVERY_MS = 30_000;

export function keysKey({ project, mode }: Scope): readonly unknown[] {
  return ['keys', project, mode];
}

export function keysQuery(scope: Scope) {
  const query = reads(keysKey(scope), 'GET /dashboard/api/projects/:project/:mode/keys', { params: scope });
  return { ...query, refetchInterval: EVERY_MS };
}
