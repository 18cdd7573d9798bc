import type { enBrowserWallets } from './en-browser-wallets.ts';
import type { TextsLike } from './en.ts';

export const deBrowserWallets: TextsLike<typeof enBrowserWallets> = {
  call_chain: 'Chain-ID',
  call_data: 'Daten',
  call_to: 'Zieladresse',
  call_value: 'Wert in Wei',
  browser_wallets: 'Wallets in diesem Browser',
  no_browser_wallet:
    'In diesem Browser wurde keine Wallet gefunden. Installieren Sie eine als Erweiterung, etwa MetaMask oder Rabby, und laden Sie diese Seite neu; oder kopieren Sie den Aufruf und senden Sie ihn aus einer anderen Wallet.',
  wallet_confirm: 'Bestätigen Sie in {wallet}.',
  wallet_switch: 'Wechseln Sie in {wallet} zu {network}.',
  wallet_declined: 'Sie haben in {wallet} abgelehnt. Es wurde nichts gesendet.',
  wallet_wrong_network:
    '{wallet} ist nicht mit {network} verbunden. Wählen Sie dort dieses Netzwerk oder fügen Sie es hinzu und versuchen Sie es dann erneut.',
  wallet_busy:
    '{wallet} zeigt noch eine frühere Anfrage. Öffnen Sie die Wallet, antworten Sie dort und versuchen Sie es dann erneut.',
  wallet_failed: '{wallet} hat nicht gesendet: {reason}',
  wallet_no_hash:
    '{wallet} hat zugestimmt, aber keinen Transaktions-Hash genannt. Prüfen Sie die Wallet, bevor Sie erneut senden.',
};
