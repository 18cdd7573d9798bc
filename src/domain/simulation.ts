/** The outcomes that a merchant can simulate for a test payment. */
export const SIMULATIONS = ['paid', 'confirming', 'part', 'over', 'late', 'failed', 'expired'] as const;
export type Simulation = (typeof SIMULATIONS)[number];

/**
 * Simulations that can pass through seen and confirming to completed, a stage at a time, instead of completing at once.
 */
export const STAGED_SIMULATIONS: readonly Simulation[] = ['paid', 'over'];

/** The longest stage, in seconds: nobody watches for longer. */
export const MAX_STAGE_SECONDS = 600;
