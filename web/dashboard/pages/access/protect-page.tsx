import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { Navigate, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { sessionQuery } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { passkeysHere } from '../../passkeys.ts';
import { Button } from '../../ui/button.tsx';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { PasskeyDialog, PasskeysOff, TotpDialog } from '../account/factor-dialogs.tsx';
import { AccessFrame } from './access-frame.tsx';
import css from './access.module.css';

/** Offers a second factor once to people without one. They can skip it. */
export function ProtectPage() {
  const { t } = useLocale('access');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data: session } = useSuspenseQuery(sessionQuery);
  const [asked, ask] = useState<'totp' | 'passkey' | null>(null);
  const leave = async (): Promise<void> => {
    await queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
    await navigate({ to: '/', replace: true });
  };
  if (session.state !== 'signed_in') return <Navigate to="/sign-in" replace />;
  const passkeys = passkeysHere(session.passkeys);
  const finish = (): void => {
    ask(null);
    void leave();
  };
  const close = (): void => ask(null);
  return (
    <AccessFrame title={t('protect_title')} lead={t('protect_text')}>
      <div className={css.choices}>
        <Choice icon="phone" title={t('totp')} text={t('totp_text')} onClick={() => ask('totp')} />
        {passkeys.offered ? (
          <Choice icon="key" title={t('passkey')} text={t('passkey_text')} onClick={() => ask('passkey')} />
        ) : (
          <PasskeysOff passkeys={passkeys} />
        )}
      </div>
      <Button kind="quiet" wide onClick={() => void leave()}>
        {t('not_now')}
      </Button>
      {asked === 'totp' ? <TotpDialog onDone={finish} onClose={close} /> : null}
      {asked === 'passkey' ? <PasskeyDialog onDone={finish} onClose={close} /> : null}
    </AccessFrame>
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
