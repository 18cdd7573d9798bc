import { useLocale } from '../locale.tsx';
import type { Wallet } from '../../wallets/announcement.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { useBrowserWallets } from './browser-wallets.ts';
import css from './wallet-picker.module.css';

interface WalletPickerProps {
  /** The uuid of the wallet that is being asked; its button shows that. */
  readonly asking: string | null;
  readonly onPick: (wallet: Wallet) => void;
}

/** A button for each wallet of this browser, with its icon and name. */
export function WalletPicker({ asking, onPick }: WalletPickerProps) {
  const { t } = useLocale('sending');
  const wallets = useBrowserWallets();
  if (wallets.length === 0) return <Notice>{t('no_browser_wallet')}</Notice>;
  return (
    <ul className={css.wallets} aria-label={t('browser_wallets')}>
      {wallets.map((wallet) => (
        <li key={wallet.uuid}>
          <Button wide busy={asking === wallet.uuid} onClick={() => onPick(wallet)}>
            {wallet.icon === null ? null : <img className={css.icon} src={wallet.icon} alt="" width={20} height={20} />}
            <bdi>{wallet.name}</bdi>
          </Button>
        </li>
      ))}
    </ul>
  );
}
