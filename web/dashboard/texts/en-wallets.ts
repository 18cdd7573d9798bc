/** The texts of the page of wallets. */
export const enWallets = {
  wallets_intro: 'Where payments arrive, and how the networks are.',
} as const;
