import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { reads } from '../../api.ts';
import { useDashboard, sessionQuery } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { passkeysHere } from '../../passkeys.ts';
import { useSignedIn } from '../../session.ts';
import { ConfirmDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { Moment } from '../../ui/value.tsx';
import rows from '../../ui/row.module.css';
import { PasskeyDialog, PasskeysOff, RecoveryCodesDialog, TotpDialog } from './factor-dialogs.tsx';
import { Row } from '../../ui/card.tsx';
import { useChange } from '../../change.ts';

type Asked =
  | { readonly kind: 'add_totp' | 'remove_totp' | 'add_passkey' | 'new_codes' }
  | { readonly kind: 'remove_passkey'; readonly id: string; readonly name: string };

/** The person's second factors. */
export function Factors() {
  const { t } = useLocale('access');
  const { queries } = useDashboard();
  const { factors, passkeys: offer } = useSignedIn();
  const passkeys = passkeysHere(offer);
  const [asked, ask] = useState<Asked | null>(null);
  const close = (): void => {
    ask(null);
    void queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
    void queries.invalidateQueries({ queryKey: ['passkeys'] });
  };
  const hasFactor = factors.totp || factors.passkeys > 0;
  return (
    <div>
      <Row title={t('totp')} badge={factors.totp ? t('on') : null} text={t('totp_text')}>
        <Button onClick={() => ask({ kind: factors.totp ? 'remove_totp' : 'add_totp' })}>
          {t(factors.totp ? 'remove_totp' : 'add_totp')}
        </Button>
      </Row>
      <Row title={t('passkeys')} text={t('passkey_text')}>
        {passkeys.offered ? <Button onClick={() => ask({ kind: 'add_passkey' })}>{t('add_passkey')}</Button> : null}
        {passkeys.offered ? null : <PasskeysOff passkeys={passkeys} />}
      </Row>
      {factors.passkeys > 0 ? (
        <PasskeyList onRemove={({ id, name }) => ask({ kind: 'remove_passkey', id, name })} />
      ) : null}
      {hasFactor ? (
        <Row title={t('recovery_codes')} text={t('recovery_codes_left', { count: factors.recovery_codes_left })}>
          <Button onClick={() => ask({ kind: 'new_codes' })}>{t('new_codes')}</Button>
        </Row>
      ) : null}
      {asked?.kind === 'add_totp' ? <TotpDialog onDone={close} onClose={close} /> : null}
      {asked?.kind === 'add_passkey' ? <PasskeyDialog onDone={close} onClose={close} /> : null}
      {asked?.kind === 'new_codes' ? <NewCodesDialog onClose={close} /> : null}
      {asked?.kind === 'remove_totp' ? <RemoveDialog passkey={null} onClose={close} /> : null}
      {asked?.kind === 'remove_passkey' ? <RemoveDialog passkey={asked} onClose={close} /> : null}
    </div>
  );
}

interface Passkey {
  readonly id: string;
  readonly name: string;
}

function PasskeyList({ onRemove }: { readonly onRemove: (passkey: Passkey) => void }) {
  const { t } = useLocale('access');
  const { data } = useQuery(reads(['passkeys'], 'GET /dashboard/api/account/passkeys'));
  return (
    <ul>
      {data?.data.map((passkey) => (
        <li className={rows.row} key={passkey.id}>
          <div>
            {passkey.name}
            <small>
              {t('added')} <Moment iso={passkey.created_at} />
            </small>
          </div>
          <Button
            small
            aria-label={t('remove_passkey_named', { name: passkey.name })}
            onClick={() => onRemove(passkey)}
          >
            {t('remove')}
          </Button>
        </li>
      ))}
    </ul>
  );
}

interface RemoveDialogProps {
  /** Null removes the authenticator app. */
  readonly passkey: Passkey | null;
  readonly onClose: () => void;
}

function RemoveDialog({ passkey, onClose }: RemoveDialogProps) {
  const { t } = useLocale('access');
  const remove = useChange<unknown>({
    send: (api) =>
      passkey === null
        ? api('POST /dashboard/api/account/totp/remove')
        : api('POST /dashboard/api/account/passkeys/remove', { body: { id: passkey.id } }),
    done: t('removed'),
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      name={t(passkey === null ? 'remove_totp' : 'remove_passkey')}
      text={passkey === null ? t('remove_totp_text') : t('remove_passkey_text', { name: passkey.name })}
      isDangerous
      action={remove}
      onClose={onClose}
    />
  );
}

function NewCodesDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale('access');
  const make = useChange({ send: (api) => api('POST /dashboard/api/account/recovery-codes') });
  if (make.data !== undefined) return <RecoveryCodesDialog codes={make.data.recovery_codes} onClose={onClose} />;
  return <ConfirmDialog name={t('new_codes')} text={t('new_codes_text')} action={make} onClose={onClose} />;
}
