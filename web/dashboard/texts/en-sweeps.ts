/** The texts of the page of sweeps. */
export const enSweeps = {
  sweeps_intro: 'Money on deposit contracts, and the way to your treasury.',
} as const;
