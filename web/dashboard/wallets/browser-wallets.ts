import { useSyncExternalStore } from 'react';
import { addWallet, readAnnouncement, type Wallet } from '../../wallets/announcement.ts';

let wallets: readonly Wallet[] = [];
const listeners = new Set<() => void>();
let isListening = false;

/**
 * The wallets of this browser, as they announced themselves (EIP-6963), with names safe to show as text. Asked for when
 * the first page shows them; one that comes later appears by itself.
 */
export function useBrowserWallets(): readonly Wallet[] {
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
