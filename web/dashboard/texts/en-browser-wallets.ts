/** The texts of sending with a wallet in the browser. */
export const enBrowserWallets = {
  call_chain: 'Chain ID',
  call_data: 'Data',
  call_to: 'To address',
  call_value: 'Value in wei',
  browser_wallets: 'Wallets in this browser',
  no_browser_wallet:
    'No wallet was found in this browser. Install one as an extension, such as MetaMask or Rabby, and reload this page; or copy the call and send it from any other wallet.',
  wallet_confirm: 'Confirm in {wallet}.',
  wallet_switch: 'Switch to {network} in {wallet}.',
  wallet_declined: 'You declined in {wallet}. Nothing was sent.',
  wallet_wrong_network: '{wallet} is not on {network}. Choose or add that network there, then try again.',
  wallet_busy: '{wallet} still shows an earlier question. Open it, answer there, then try again.',
  wallet_failed: '{wallet} did not send it: {reason}',
  wallet_no_hash: '{wallet} agreed but gave no transaction hash. Check the wallet before you send anything again.',
} as const;
