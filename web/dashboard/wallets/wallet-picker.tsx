import { useLocale } from '../locale.tsx';
import { type Wallet, addWallet, readAnnouncement } from '../../wallets/announcement.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import css from './wallet-picker.module.css';
import { useSyncExternalStore } from 'react';

let wallets: readonly Wallet[] = [];
const listeners = new Set<() => void>();
let isListening = false;

/**
 * The wallets of this browser, as they announced themselves (EIP-6963), with names safe to show as text. Requested when
 * the first page shows them; a later one appears automatically.
 */
function useBrowserWallets(): readonly Wallet[] {
  return useSyncExternalStore(subscribe, () => wallets);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (!isListening) listen();
  return () => listeners.delete(listener);
}

/** For as long as the tab lives: a wallet announces itself once, and again only when asked. */
function listen(): void {
  isListening = true;
  addEventListener('eip6963:announceProvider', (event) => {
    const wallet = event instanceof CustomEvent ? readAnnouncement(event.detail) : null;
    if (wallet === null) return;
    wallets = addWallet(wallets, wallet);
    for (const listener of listeners) listener();
  });
  dispatchEvent(new Event('eip6963:requestProvider'));
}

interface WalletPickerProps {
  /** The uuid of the wallet being asked, whose button shows that. */
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
