import type { Contracts } from './route.ts';

/** The routes of the page of refunds. */
export const refundListContract = {} satisfies Contracts;
