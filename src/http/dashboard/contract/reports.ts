import type { Contracts } from './route.ts';

/** The routes of the page of reports. */
export const reportsContract = {} satisfies Contracts;
