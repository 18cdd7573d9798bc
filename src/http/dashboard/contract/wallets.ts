import type { Contracts } from './route.ts';

/** The routes of the page of wallets. */
export const walletsContract = {} satisfies Contracts;
