import { useLocale } from '../locale.tsx';
import { type Wallet, addWallet, readAnnouncement } from '../../wallets/announcement.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import css from './wallet-picker.module.css';
import { useSyncExternalStore } from 'react';
import type { SendEnd, SendStep } from './send-call.ts';

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

interface SendTextProps {
  /** The wallet's name. */
  readonly wallet: string;
  /** The network's name. */
  readonly network: string;
  /** The question to the wallet, or its outcome; null shows nothing. */
  readonly state: SendStep | SendEnd | null;
}

/** A wallet's question or answer as a sentence. The page itself reports a sent transaction. */
export function SendText({ wallet, network, state }: SendTextProps) {
  const { t } = useLocale('sending');
  if (state === null) return null;
  if (typeof state === 'string') {
    const text = state === 'confirm' ? t('wallet_confirm', { wallet }) : t('wallet_switch', { wallet, network });
    return (
      <div role="status">
        <Notice>{text}</Notice>
      </div>
    );
  }
  switch (state.kind) {
    case 'sent':
      return state.hash === null ? <Notice kind="warning">{t('wallet_no_hash', { wallet })}</Notice> : null;
    case 'declined':
      return <Notice kind="problem">{t('wallet_declined', { wallet })}</Notice>;
    case 'wrong_network':
      return <Notice kind="problem">{t('wallet_wrong_network', { wallet, network })}</Notice>;
    case 'busy':
      return <Notice kind="problem">{t('wallet_busy', { wallet })}</Notice>;
    case 'failed':
      return <Notice kind="problem">{t('wallet_failed', { wallet, reason: state.reason })}</Notice>;
    case 'stopped':
      return null;
  }
}
