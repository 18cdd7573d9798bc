import { useLocale } from '../../locale.tsx';
import type { PasskeysHere } from '../../passkeys.ts';
import { Notice } from '../../ui/notice.tsx';

type Off = Extract<PasskeysHere, { readonly offered: false }>;

/** Why passkeys do not work at this address, and which setting changes that. */
export function PasskeysOff({ passkeys: { reason, dashboard_url } }: { readonly passkeys: Off }) {
  const { t } = useLocale('access');
  return (
    <Notice>
      <b>{t('passkeys_off')}</b>
      <p>{t(`passkeys_${reason}`, { url: dashboard_url })}</p>
    </Notice>
  );
}
