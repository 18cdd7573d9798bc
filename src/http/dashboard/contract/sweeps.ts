import type { Contracts } from './route.ts';

/** The routes of the page of sweeps. */
export const sweepsContract = {} satisfies Contracts;
