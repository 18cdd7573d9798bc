import type { enWallets } from './en-wallets.ts';
import type { TextsLike } from './en.ts';

export const deWallets: TextsLike<typeof enWallets> = {
  wallets_intro: 'Wohin Zahlungen gehen und wie es den Netzen geht.',
};
