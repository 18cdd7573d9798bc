import { useSuspenseQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { sessionQuery } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { passkeysHere } from '../../passkeys.ts';
import { useSignOut } from '../../shell/account-button.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { PasskeyDialog, PasskeysOff, TotpDialog } from '../account/factor-dialogs.tsx';
import css from './access.module.css';

interface FactorChoicesProps {
  /** Called when a factor's dialog opens or closes. */
  readonly onAdding?: (isAdding: boolean) => void;
  /** Called once a factor was added and its recovery codes were shown. */
  readonly onDone: () => void;
}

/** The kinds of second factors, each with its dialog. */
export function FactorChoices({ onAdding, onDone }: FactorChoicesProps) {
  const { t } = useLocale('access');
  const passkeys = passkeysHere(useSuspenseQuery(sessionQuery).data.passkeys);
  const [asked, set] = useState<'totp' | 'passkey' | null>(null);
  const ask = (kind: typeof asked): void => {
    set(kind);
    onAdding?.(kind !== null);
  };
  const dialog = {
    onClose: () => ask(null),
    onDone: () => {
      ask(null);
      onDone();
    },
  };
  return (
    <div className={css.choices}>
      <Choice icon="phone" title={t('totp')} text={t('totp_text')} onClick={() => ask('totp')} />
      {passkeys.offered ? (
        <Choice icon="key" title={t('passkey')} text={t('passkey_text')} onClick={() => ask('passkey')} />
      ) : (
        <PasskeysOff passkeys={passkeys} />
      )}
      {asked === 'totp' ? <TotpDialog {...dialog} /> : null}
      {asked === 'passkey' ? <PasskeyDialog {...dialog} /> : null}
    </div>
  );
}

/** Over an open page: the person must add a second factor before the page continues. */
export function FactorQuestion(props: FactorChoicesProps): ReactNode {
  const { t } = useLocale('access');
  const signOut = useSignOut();
  return (
    <Dialog title={t('factor_required_title')} description={t('factor_required_text')}>
      <FactorChoices {...props} />
      <Button kind="quiet" wide onClick={() => void signOut()}>
        {t('sign_out')}
      </Button>
    </Dialog>
  );
}

interface ChoiceProps {
  readonly icon: IconName;
  readonly title: string;
  readonly text: string;
  readonly onClick: () => void;
}

function Choice({ icon, title, text, onClick }: ChoiceProps) {
  return (
    <button type="button" className={css.choice} onClick={onClick}>
      <Icon name={icon} size={20} />
      <span>
        <b>{title}</b>
        <small>{text}</small>
      </span>
      <Icon name="chevron-right" size={16} />
    </button>
  );
}
