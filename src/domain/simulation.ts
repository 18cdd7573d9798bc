/** What a merchant can make happen to a test payment. */
export const SIMULATIONS = ['paid', 'part', 'over', 'late', 'failed', 'expired'] as const;
export type Simulation = (typeof SIMULATIONS)[number];
